/** What is wrong with a message, and the message. */
export type Malformed = readonly [why: string, message: unknown];
