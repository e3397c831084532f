/** What the tests use of `java-clients.mjs`, which is plain JavaScript because it runs before anything is installed. */
export const javaClientsFolder: string;
