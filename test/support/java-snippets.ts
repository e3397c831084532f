import { filesOf } from "./contract-page.ts";
import { runJava, type RunningJava, tellInJava, throwRingInJava } from "./java-process.ts";

/** A page, and the entity that its snippet consumes from. */
export interface JavaCase {
  /** The name of a Java package. */
  readonly name: string;
  readonly page: string;
  /** Spring's settings that name this entity. */
  readonly settings: Readonly<Record<string, string>>;
  /** The statements of a slow handler; `context` is Spring's. */
  readonly slow?: string;
}

/**
 * Replaces the user's code. It treats each message as its body says, run after run: `id|transient,permanent,600`. A
 * number is a requested delay in milliseconds. `permanent` throws an error with the declared error as its cause, so
 * that the snippet has to search the chain. The code needs a map `runs`, a method `textOf` and a class
 * `ValidationError` around it.
 *
 * @param slow the statements of a handler whose body says that it is slow
 */
export function handlerInJava(name: string, slow = "Thread.sleep(1500);"): string {
  return `(body, attempt) -> {
            String[] told = textOf(body).split("\\\\|", -1);
            String[] plan = told[1].split(",");
            int number = runs.merge(told[0], 1, Integer::sum);
            ${tellInJava(name, "told[0]", "attempt")}
            String ending = number <= plan.length ? plan[number - 1] : "";
            switch (ending) {
                case "" -> {}
                case "slow" -> { ${slow} }
                case "transient" -> { ${throwRingInJava} }
                case "permanent" -> throw new IllegalStateException("wrapped", new ValidationError());
                case "return" -> throw new Outcomes.HandBack();
                default -> throw new Outcomes.RetryAfter(Long.parseLong(ending));
            }
        }`;
}

/** An application around the snippet of one page. */
function applicationOf({ name, page, slow }: JavaCase): string {
  const body = /Handler<(.+?)> handler;/.exec(page)?.[1] ?? "";
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
    Outcomes.Handler<${body}> handler(org.springframework.context.ApplicationContext context) {
        Map<String, Integer> runs = new ConcurrentHashMap<>();
        return ${handlerInJava(name, slow)};
    }
}
`;
}

/** The program ends when the process that started it closes its standard input. */
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
 * Compiles the snippets of all pages for Spring as printed, each in a package of its own, and runs them in one process.
 *
 * @param jarsFolder Spring, with the libraries that the snippets use
 */
export async function runSpringSnippets(jarsFolder: string, cases: readonly JavaCase[]): Promise<RunningJava> {
  const files = new Map([
    ["Main.java", mainOf(cases)],
    ["application.yaml", [...filesOf(cases[0]?.page ?? "", ".yaml").values()].join("\n")],
  ]);
  for (const each of cases) {
    files.set(`${each.name}/Application.java`, applicationOf(each));
    for (const [file, text] of filesOf(each.page, ".java"))
      files.set(`${each.name}/${file}`, `package ${each.name};\n${text}`);
  }
  return runJava(jarsFolder, files);
}
