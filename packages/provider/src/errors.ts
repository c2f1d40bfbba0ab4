/** The errors of a provider, each with what the reader should do about it. */
import { GatewayErrorCode, type ToolErrorCode } from '@atrium/protocol/provider';

/** Errors that this side of the connection raises. */
export const LocalErrorCode = {
  /** There is no token and no way to pair. */
  NoToken: 'NO_TOKEN',
  /** A person declined, or typed no code in time. */
  PairingRefused: 'PAIRING_REFUSED',
  /** The author's options or changes break the contract of the gateway. */
  InvalidOptions: 'INVALID_OPTIONS',
  /** Too many pushes wait. */
  PushQueueFull: 'PUSH_QUEUE_FULL',
  /** No answer in time. */
  Timeout: 'TIMEOUT',
  /** The connection broke before there was an answer. */
  Disconnected: 'DISCONNECTED',
  /** `close` was called, or the gateway refused the provider for good. */
  Closed: 'CLOSED',
} as const;
export type LocalErrorCode = (typeof LocalErrorCode)[keyof typeof LocalErrorCode];

export type ProviderErrorCode = GatewayErrorCode | LocalErrorCode;

const ADVICE: Readonly<Record<ProviderErrorCode, string>> = {
  [GatewayErrorCode.InvalidJson]: 'Correct the message; the text says what is wrong with it.',
  [GatewayErrorCode.UnknownType]: 'This gateway does not do that, or not now.',
  [GatewayErrorCode.InvalidSession]: 'Wait for a session that you may bind to.',
  [GatewayErrorCode.AuthFailed]: 'Check TAP_PROVIDER_TOKEN, or pair again.',
  [GatewayErrorCode.DuplicateInstance]: 'Give each provider of this name an `instance` of its own.',
  [GatewayErrorCode.ToolConflict]: 'Rename the tool.',
  [GatewayErrorCode.RateLimited]: 'Wait a second, then try again.',
  [GatewayErrorCode.PayloadTooLarge]: 'Send less, or leave a file in persistDir.',
  [GatewayErrorCode.UnsupportedVersion]: 'Update @atrium/provider.',
  [GatewayErrorCode.Unauthorized]: 'Your trust level does not allow this: leave that part out.',
  [LocalErrorCode.NoToken]: 'Give `token`, set TAP_PROVIDER_TOKEN, or give `pairing`.',
  [LocalErrorCode.PairingRefused]: 'Connect again when a person can type the code.',
  [LocalErrorCode.InvalidOptions]: 'Correct what you gave to the library.',
  [LocalErrorCode.PushQueueFull]: 'Push less: the gateway takes ten a second.',
  [LocalErrorCode.Timeout]: 'Try again.',
  [LocalErrorCode.Disconnected]: 'Try again; the library connects anew by itself.',
  [LocalErrorCode.Closed]: 'Connect anew.',
};

interface ErrorFacts {
  /** The type of the message that was refused. */
  readonly replyTo?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly cause?: unknown;
}

export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly code: ProviderErrorCode;
  /** What to do. Also at the end of the message. */
  readonly advice: string;
  readonly replyTo: string | undefined;
  readonly sessionId: string | undefined;

  constructor(code: ProviderErrorCode, what: string, { replyTo, sessionId, cause }: ErrorFacts = {}) {
    super(`${code}: ${what.replace(/[.\s]+$/, '')}. ${ADVICE[code]}`, cause === undefined ? {} : { cause });
    this.code = code;
    this.advice = ADVICE[code];
    this.replyTo = replyTo;
    this.sessionId = sessionId;
  }
}

/** Throw it in a tool to fail with a code of your choice; any other error counts as INTERNAL. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
  readonly code: ToolErrorCode;
  /** Whether another instance of this provider might succeed. */
  readonly retryable: boolean;

  constructor(code: ToolErrorCode, message: string, { retryable = false }: { readonly retryable?: boolean } = {}) {
    super(message);
    this.code = code;
    this.retryable = retryable;
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
