import { codeOf } from "./code-of.ts";
import { runJava, type RunningJava, tellInJava, throwRingInJava } from "./java-process.ts";

/** A page, and what its snippet consumes from. */
export interface JavaCase {
  /** The name of a Java package. */
  readonly name: string;
  readonly page: string;
  /** Settings of Spring's that say where that is. */
  readonly settings: Readonly<Record<string, string>>;
}

/**
 * What stands in the place of the user's code: does with each message what its body says, run after run: `id|transient,permanent,600`, where a number
 * is a delay in milliseconds that it asks for. `permanent` throws something whose cause is the declared error, so that the chain has to be looked
 * through. It needs a map `runs`, a method `textOf` and a class `ValidationError` around it.
 *
 * @param consumer the class of the snippet
 */
export function handlerInJava(name: string, page: string, consumer: string): string {
  const asked = page.includes("static class RetryAfter")
    ? `default -> throw new ${consumer}.RetryAfter(Long.parseLong(ending));`
    : "";
  return `(body, attempt) -> {
            String[] told = textOf(body).split("\\\\|", -1);
            String[] plan = told[1].split(",");
            int number = runs.merge(told[0], 1, Integer::sum);
            ${tellInJava(name, "told[0]", "attempt")}
            String ending = number <= plan.length ? plan[number - 1] : "";
            switch (ending) {
                case "" -> {}
                case "slow" -> Thread.sleep(1500);
                case "transient" -> { ${throwRingInJava} }
                case "permanent" -> throw new IllegalStateException("wrapped", new ValidationError());
                case "return" -> throw new ${consumer}.HandBack();
                ${asked}
            }
        }`;
}

/** An application around the snippet of one page. */
function applicationOf({ name, page }: JavaCase): string {
  return `package ${name};

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

@SpringBootApplication
public class Application {
    static class ValidationError extends RuntimeException {}

    static String textOf(byte[] body) {
        return new String(body, java.nio.charset.StandardCharsets.UTF_8);
    }

    static String textOf(String body) {
        return body;
    }

    @Bean
    Consumer.Handler handler() {
        Map<String, Integer> runs = new ConcurrentHashMap<>();
        return ${handlerInJava(name, page, "Consumer")};
    }
}
`;
}

/** Ends with the process that started it, which holds the other end of its standard input. */
function mainOf(cases: readonly JavaCase[]): string {
  const starts = cases.map(({ name, settings }) => {
    const all = { ...settings, "spring.main.banner-mode": "off", "logging.level.root": "WARN" };
    const words = Object.entries(all).map(([setting, value]) => JSON.stringify(`--${setting}=${value}`));
    return `        new SpringApplication(${name}.Application.class).run(${words.join(", ")});`;
  });
  return `import org.springframework.boot.SpringApplication;

public class Main {
    public static void main(String[] words) throws Exception {
${starts.join("\n")}
        System.in.read();
        System.exit(0);
    }
}
`;
}

/**
 * Compiles the snippets of all pages for Spring as they are printed, each in a package of its own, and runs them in one process.
 *
 * @param jarsFolder Spring, and what of it the snippets are for
 */
export async function runSpringSnippets(jarsFolder: string, cases: readonly JavaCase[]): Promise<RunningJava> {
  const files = new Map([
    ["Main.java", mainOf(cases)],
    ["application.yaml", codeOf(cases[0]?.page ?? "", "yaml")],
  ]);
  for (const each of cases) {
    files.set(`${each.name}/Application.java`, applicationOf(each));
    files.set(`${each.name}/Consumer.java`, `package ${each.name};\n${codeOf(each.page, "java")}`);
  }
  return runJava(jarsFolder, files);
}
