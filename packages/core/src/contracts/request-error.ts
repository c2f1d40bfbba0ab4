/** An error to answer a request with. The message says what was wrong and what to do. */
import type { ErrorCode } from '@atrium/protocol/ahp-1';

export class RequestError extends Error {
  override readonly name = 'RequestError';
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly data?: unknown,
  ) {
    super(message);
  }

  /** Makes the error from its form in a frame. */
  static from({ code, message, data }: { code: number; message: string; data?: unknown }): RequestError {
    return new RequestError(code as ErrorCode, message, data);
  }
}
