import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { javaClientsFolder } from "../../scripts/java-clients.mjs";
import { codeOf } from "./code-of.ts";
import type { SnippetRun } from "./snippet-course.ts";

/** A page, and the broker that its snippet consumes from. */
export interface JavaCase {
  /** The name of a Java package. */
  readonly name: string;
  readonly page: string;
  readonly amqpUrl: string;
}

export interface RunningJava {
  readonly runsOf: (name: string) => readonly SnippetRun[];
  /** Everything that the process said that is no run; what is shown when a test fails. */
  readonly log: () => string;
  readonly stop: () => Promise<void>;
}

/**
 * An application around the snippet of one page. What stands in the place of the user's code does with each message what its body says,
 * run after run: `id|transient,permanent,600`, where a number is a delay in milliseconds that it asks for. `permanent` throws something
 * whose cause is the declared error, so that the chain has to be looked through.
 */
function applicationOf({ name, page }: JavaCase): string {
  const asked = page.includes("static class RetryAfter")
    ? "default -> throw new Consumer.RetryAfter(Long.parseLong(ending));"
    : "";
  return `package ${name};

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

@SpringBootApplication
public class Application {
    static class ValidationError extends RuntimeException {}

    @Bean
    Consumer.Handler handler() {
        Map<String, Integer> runs = new ConcurrentHashMap<>();
        return (body, attempt) -> {
            String[] told = new String(body, "UTF-8").split("\\\\|", -1);
            String[] plan = told[1].split(",");
            int number = runs.merge(told[0], 1, Integer::sum);
            double beganAt = System.currentTimeMillis() / 1000.0;
            System.out.println(String.format("{\\"case\\":\\"${name}\\",\\"id\\":\\"%s\\",\\"attempt\\":%d,\\"beganAt\\":%s}", told[0], attempt, beganAt));
            String ending = number <= plan.length ? plan[number - 1] : "";
            switch (ending) {
                case "" -> {}
                case "transient" -> throw new java.io.IOException("down");
                case "permanent" -> throw new IllegalStateException("wrapped", new ValidationError());
                case "return" -> throw new Consumer.HandBack();
                ${asked}
            }
        };
    }
}
`;
}

/** Ends with the process that started it, which holds the other end of its standard input. */
function mainOf(cases: readonly JavaCase[]): string {
  const starts = cases.map(
    ({ name, amqpUrl }) =>
      `        new SpringApplication(${name}.Application.class).run("--spring.rabbitmq.addresses=${amqpUrl}", "--spring.main.banner-mode=off", "--logging.level.root=WARN");`,
  );
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

/** Compiles the snippets of all pages as they are printed, each in a package of its own, and runs them in one process. */
export async function runJavaSnippets(cases: readonly JavaCase[]): Promise<RunningJava> {
  if (!existsSync(javaClientsFolder))
    throw new Error("the Java clients are not installed: `npm run bootstrap -- --java` installs them");
  const folder = mkdtempSync(join(tmpdir(), "redeliver-java-"));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    return start(await build(folder, cases), remove);
  } catch (error) {
    remove();
    throw error;
  }
}

/** @returns the class path of what was built */
async function build(folder: string, cases: readonly JavaCase[]): Promise<string> {
  const classes = join(folder, "classes");
  mkdirSync(classes);
  const [first] = cases;
  writeFileSync(join(classes, "application.yaml"), codeOf(first?.page ?? "", "yaml"));
  const write = (path: string, text: string): string => {
    writeFileSync(path, text);
    return path;
  };
  const sources = cases.flatMap((each) => {
    const own = join(folder, each.name);
    mkdirSync(own);
    return [
      write(join(own, "Application.java"), applicationOf(each)),
      write(join(own, "Consumer.java"), `package ${each.name};\n${codeOf(each.page, "java")}`),
    ];
  });
  sources.push(write(join(folder, "Main.java"), mainOf(cases)));
  const jars = readdirSync(javaClientsFolder).map((name) => join(javaClientsFolder, name));
  // Eclipse's compiler comes from Maven like the rest: what Debian installs to run Java cannot compile it.
  const compiler = "org.eclipse.jdt.internal.compiler.batch.Main";
  const options = ["-source", "17", "-target", "17", "-proc:none", "-nowarn", "-parameters"];
  const child = spawn("java", ["-cp", jars.join(":"), compiler, ...options, "-d", classes, ...sources]);
  const said = listen(child, () => undefined);
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`the snippets do not compile:\n${said()}`);
  return [classes, ...jars].join(":");
}

function start(classPath: string, remove: () => void): RunningJava {
  const runs: (SnippetRun & { readonly case: string })[] = [];
  // It lives for seconds, so what it would win by compiling thoroughly it never gets back.
  const child = spawn("java", ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", classPath, "Main"]);
  const log = listen(child, (line) => {
    if (line.startsWith('{"case":')) runs.push(JSON.parse(line) as SnippetRun & { readonly case: string });
  });
  return {
    runsOf: (name) => {
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(`the process of the snippets has ended:\n${log()}`);
      return runs.filter((run) => run.case === name);
    },
    log,
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null) {
        const exited = once(child, "exit");
        child.kill("SIGKILL");
        await exited;
      }
      remove();
    },
  };
}

/** Hands on each line of the standard output. @returns everything that was said */
function listen(child: ChildProcess, hear: (line: string) => void): () => string {
  let rest = "";
  let log = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    log += chunk.toString();
    const lines = (rest + chunk.toString()).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) hear(line);
  });
  child.stderr?.on("data", (chunk: Buffer) => {
    log += chunk.toString();
  });
  return () => log;
}
