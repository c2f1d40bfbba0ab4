/** A message of a provider that is refused, and what its sender is told. */

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

/** Of what a provider sent, errors repeat only a little. */
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

/** One message may bring a lot; several of them, one after the other, may not bring more. */
export function tooLong(what: string, max: number): GatewayError {
  const message = `all ${what} of a provider have at most ${max} characters together: say less`;
  return new GatewayError(GatewayErrorCode.PayloadTooLarge, message);
}

/** Counts have no code of their own; this one says what to do: send less. */
export function tooMany(what: string, max: number): GatewayError {
  return new GatewayError(GatewayErrorCode.PayloadTooLarge, `at most ${max} ${what} per provider`);
}
