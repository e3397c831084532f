/** What the tests use of `java-clients.mjs`, which is plain JavaScript because it runs before anything is installed. */
export const springClientsFolder: string;
export const springCloudAwsFolder: string;
export const serviceBusClientFolder: string;
export const amqpClientFolder: string;
