/** Errors for a provider whose message the gateway refuses. */
import { GatewayErrorCode } from '@atrium/protocol/provider';

export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  constructor(
    readonly code: GatewayErrorCode,
    message: string,
    readonly sessionId?: string,
  ) {
    super(message);
  }
}

/** How much of a provider's text an error repeats. */
const SHOWN_MAX_CHARACTERS = 64;

export function shown(text: string): string {
  return text.length > SHOWN_MAX_CHARACTERS ? `${text.slice(0, SHOWN_MAX_CHARACTERS)}…` : text;
}

export function unauthorized(message: string): GatewayError {
  return new GatewayError(GatewayErrorCode.Unauthorized, message);
}

export function invalidSession(message: string, sessionId?: string): GatewayError {
  return new GatewayError(
    GatewayErrorCode.InvalidSession,
    message,
    sessionId === undefined ? undefined : shown(sessionId),
  );
}

/** The limit applies to all updates together, not to one message. */
export function tooLong(what: string, max: number): GatewayError {
  const message = `all ${what} of a provider have at most ${max} characters together: send less`;
  return new GatewayError(GatewayErrorCode.PayloadTooLarge, message);
}

/** The protocol has no code for counts; this one fits best, because the remedy is to send less. */
export function tooMany(what: string, max: number): GatewayError {
  return new GatewayError(GatewayErrorCode.PayloadTooLarge, `at most ${max} ${what} per provider`);
}
