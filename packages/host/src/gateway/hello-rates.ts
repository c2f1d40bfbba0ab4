/** How often a provider may bind. Each time changes its session for everybody, and is stored. */
import { GatewayErrorCode, REBINDS_PER_MINUTE_MAX } from '@atrium/protocol/provider';
import type { Clock } from '../core/util/clock.js';
import type { ProviderConnection } from './connection.js';
import { GatewayError } from './gateway-error.js';
import { Rate, Rates } from './rate.js';

/**
 * With one token, over all its connections: whoever drops the line and comes back has not waited. All tabs of a pairing
 * may come back at once, several times a minute.
 */
export const HELLOS_PER_MINUTE_MAX = 120;
const MINUTE_MS = 60_000;

export class HelloRates {
  readonly #clock: Clock;
  readonly #hellos: Rates;
  readonly #rebinds = new WeakMap<ProviderConnection, Rate>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#hellos = new Rates(clock, HELLOS_PER_MINUTE_MAX, MINUTE_MS);
  }

  /** Throws when it was too often. Those in this process are part of the host, and know what they do. */
  count(connection: ProviderConnection): void {
    if (connection.provider && !this.#rebindsOf(connection).take()) throw tooOften(REBINDS_PER_MINUTE_MAX, 'rebinds');
    const token = connection.access?.token;
    if (token && !this.#hellos.take(token.id)) throw tooOften(HELLOS_PER_MINUTE_MAX, 'hellos with one token');
  }

  #rebindsOf(connection: ProviderConnection): Rate {
    const rate = this.#rebinds.get(connection) ?? new Rate(this.#clock, REBINDS_PER_MINUTE_MAX, MINUTE_MS);
    this.#rebinds.set(connection, rate);
    return rate;
  }
}

function tooOften(max: number, what: string): GatewayError {
  return new GatewayError(GatewayErrorCode.RateLimited, `at most ${max} ${what} a minute: wait, then try again`);
}
