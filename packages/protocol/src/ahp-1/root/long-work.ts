/**
 * Requests that take a while: a client that sends a `progressToken` (in `_meta` of the protocol's own methods) gets
 * `root/progress`, and can stop the work with a method of our own. AHP has this only for the creation of a session.
 */
export const CANCEL_WORK_METHOD = 'atrium/cancelWork';

export interface CancelWorkParams {
  readonly progressToken: string;
}

export interface CancelWorkResult {
  /** Whether there was such work. It may have done part of it, or nothing; the answer to its request says which. */
  readonly wasRunning: boolean;
}
