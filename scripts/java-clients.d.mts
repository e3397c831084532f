/**
 * The exports of `java-clients.mjs` that tests use. That file is plain JavaScript, because it runs before anything is
 * installed.
 */
export const springClientsFolder: string;
export const springCloudAwsFolder: string;
export const serviceBusClientFolder: string;
export const amqpClientFolder: string;
