import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;

/** Finds what a contract demands for the outcome of a run. A consumer extends it. */
public abstract class Outcomes {
    /** Throw it where the message was not tried, for example at a shutdown. */
    public static class HandBack extends RuntimeException {}

    /** Throw it where the delay is known, for example from a Retry-After header. */
    public static class RetryAfter extends RuntimeException {
        final long delayMs;

        public RetryAfter(long delayMs) {
            super("retry after " + delayMs + " ms");
            this.delayMs = delayMs;
        }
    }

    public interface Handler<Body> {
        void handle(Body body, int attempt) throws Exception;
    }

    /** @return what the handler throws, or null */
    static <Body> Exception run(Handler<Body> handler, Body body, int attempt) {
        try {
            handler.handle(body, attempt);
            return null;
        } catch (Exception thrown) {
            return thrown;
        }
    }

    /** @param error what the handler has thrown, or null */
    static List<Map<String, Object>> operationsOf(Map<String, Object> contract, Exception error, int attempt) {
        Object outcome = outcomeOf(contract, error);
        if (outcome instanceof Map<?, ?> step) {
            List<?> byAttempt = (List<?>) step.get("byAttempt");
            // A number beyond the last attempt counts as the last: fewer may have been declared while the message waited.
            outcome = byAttempt.get(Math.min(attempt, byAttempt.size()) - 1);
        }
        return cast(outcome);
    }

    private static Object outcomeOf(Map<String, Object> contract, Exception error) {
        Map<String, Object> outcomes = get(contract, "outcomes");
        if (error == null) return outcomes.get("success");
        if (error instanceof HandBack) return outcomes.get("return");
        if (error instanceof RetryAfter asked && contract.containsKey("retryAfter")) {
            List<Map<String, Object>> steps = get(contract, "retryAfter");
            for (Map<String, Object> step : steps) if (asked.delayMs <= (long) step.get("upToMs")) return step;
        }
        return outcomes.get(isPermanent(get(contract, "permanentErrors"), error) ? "permanent" : "transient");
    }

    /** By the names of an error and of everything that it was thrown from; a longer chain is a ring. */
    private static boolean isPermanent(List<String> names, Throwable error) {
        Throwable each = error;
        for (int left = 20; each != null && left > 0; left--) {
            if (names.contains(each.getClass().getSimpleName())) return true;
            each = each.getCause();
        }
        return false;
    }

    /** A number between two, or the delay that the handler has asked for; null where the contract has none. */
    static Long between(Object wanted, Exception error) {
        if (!(wanted instanceof Map<?, ?> range)) return wanted == null ? null : ((RetryAfter) error).delayMs;
        return ThreadLocalRandom.current().nextLong((long) range.get("from"), (long) range.get("to") + 1);
    }

    static <Value> Value get(Map<String, Object> part, String name) {
        return cast(part.get(name));
    }

    @SuppressWarnings("unchecked")
    private static <Value> Value cast(Object value) {
        return (Value) value;
    }

    /** A part of a large contract: a method of Java has at most 64 KB. */
    static Object part(Supplier<Object> part) {
        return part.get();
    }

    static List<Object> list(Object... values) {
        return Arrays.asList(values);
    }

    static Map<String, Object> map(Object... namesAndValues) {
        Map<String, Object> made = new LinkedHashMap<>();
        for (int at = 0; at < namesAndValues.length; at += 2) made.put((String) namesAndValues[at], namesAndValues[at + 1]);
        return made;
    }
}
