/** A class for each failure, with a message that says what the reader should do. */
import { ErrorCode, type StateAction } from '@atrium/protocol/ahp-1';

export type RequestErrorName = keyof typeof ErrorCode | 'UnknownError';

/** The host answered a request with an error. Handlers of host requests throw it to answer with one. */
export class RequestError extends Error {
  override readonly name: RequestErrorName;
  readonly code: number;
  /** The data that the protocol defines for this code, if any. It comes from outside: check it before you use it. */
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.name = nameOf(code);
    this.code = code;
    this.data = data;
  }
}

function nameOf(code: number): RequestErrorName {
  const entry = Object.entries(ErrorCode).find(([, known]) => known === code);
  return (entry?.[0] as RequestErrorName | undefined) ?? 'UnknownError';
}

/** There is no connection now. Wait for the status `open`, then ask again if it still matters. */
export class DisconnectedError extends Error {
  override readonly name = 'DisconnectedError';

  constructor(doing: string, why: string) {
    super(`${doing}: not connected to the host (${why}). Wait for the status "open" and try again.`);
  }
}

/** The host answered and did not let us in. Trying again does not help until something else has changed. */
export class AccessRefusedError extends Error {
  override readonly name = 'AccessRefusedError';
  /** 401: the token is missing or wrong. 403: this name or page may not connect. */
  readonly status: number;

  constructor(place: string, status: number) {
    const why =
      status === 401
        ? 'refuses the token. Give the one in the file connection-token of its data folder, or the one it was started with'
        : 'does not let this name or page in. Its --allowed-hosts and --allowed-origins say who may come';
    super(`${place} ${why} (${status}).`);
    this.status = status;
  }
}

export class RequestTimeoutError extends Error {
  override readonly name = 'RequestTimeoutError';

  constructor(method: string, milliseconds: number) {
    super(`${method}: no answer within ${milliseconds} ms. Try again, or raise requestTimeoutMs.`);
  }
}

/** The host answered with something that the protocol does not allow. */
export class InvalidResultError extends Error {
  override readonly name = 'InvalidResultError';

  constructor(method: string, problem: string) {
    super(`${method}: the host sent a result that the protocol does not allow: ${problem}.`);
  }
}

/** The host did not accept an action. Its effect is gone from the state. */
export class ActionRejectedError extends Error {
  override readonly name = 'ActionRejectedError';
  readonly action: StateAction;
  readonly reason: string;

  constructor(action: StateAction, reason: string) {
    super(`${action.type} was rejected: ${reason}`);
    this.action = action;
    this.reason = reason;
  }
}

/** The connection was lost between an action and its echo, and the host does not say whether it applied the action. */
export class ActionOutcomeUnknownError extends Error {
  override readonly name = 'ActionOutcomeUnknownError';
  readonly action: StateAction;

  constructor(action: StateAction) {
    super(`${action.type}: the connection was lost before the host answered. Look at the state before you repeat it.`);
    this.action = action;
  }
}

/** The channel was disposed, or is no longer permitted. */
export class ChannelGoneError extends Error {
  override readonly name = 'ChannelGoneError';

  constructor(uri: string) {
    super(`${uri} is gone: it was disposed, or is no longer permitted. Close the handle.`);
  }
}

/** The client is closed: by `close`, or by the host for good. */
export class ClientClosedError extends Error {
  override readonly name = 'ClientClosedError';

  constructor(why = 'close() was called') {
    super(`The client is closed: ${why}. Connect anew.`);
  }
}
