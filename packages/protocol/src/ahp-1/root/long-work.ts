/**
 * Requests that take a while: a client that sends a `progressToken` along (in `_meta` of the protocol's own methods) hears of
 * `root/progress`, and stops the work with a method of our own. AHP has both only for the creation of a session.
 */
export const CANCEL_WORK_METHOD = 'atrium/cancelWork';

export interface CancelWorkParams {
  readonly progressToken: string;
}

export interface CancelWorkResult {
  /** Whether there was such work. What it did until then stays, or nothing was done; the answer to its request says which. */
  readonly wasRunning: boolean;
}
