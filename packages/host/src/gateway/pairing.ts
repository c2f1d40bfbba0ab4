/**
 * Pairing codes. Each session has a code of its own, and people see all of them in one place; the code that is typed at
 * the provider says which session it is let into. A code is good for one guess, and for a short while.
 */
import { randomInt } from 'node:crypto';
import {
  GatewayErrorCode,
  PAIRING_ATTEMPTS_PER_MINUTE_MAX,
  PAIRING_CODE_DIGITS,
  PAIRING_CODE_TTL_MS,
} from '@atrium/protocol/provider';
import { CloseCode } from '../core/wire/transport.js';
import { digestOf, matchesToken } from '../server/security/token.js';
import type { ProviderConnection } from './connection.js';
import { GatewayError, invalidSession } from './gateway-error.js';
import type { Notice } from './pairing-board.js';
import { Rate } from './rate.js';
import type { Room } from './room.js';
import type { GatewayCore } from './service.js';

const MINUTE_MS = 60_000;
const PROMPT = 'Type the pairing code that the host shows.';

/** Shows the codes to people; the returned function takes them away. */
export type ShowCodes = (notice: Notice) => () => void;

interface Pairing {
  readonly codes: ReadonlyMap<Room, string>;
  /** Takes the notice away. */
  end(): void;
}

export class Pairings {
  readonly #open = new Map<ProviderConnection, Pairing>();
  readonly #attempts: Rate;

  constructor(
    private readonly core: GatewayCore,
    private readonly show: ShowCodes,
  ) {
    this.#attempts = new Rate(core.clock, PAIRING_ATTEMPTS_PER_MINUTE_MAX, MINUTE_MS);
  }

  /** Gives what the provider is to tell its user, which is never the code. */
  begin(connection: ProviderConnection, name: string | undefined): string {
    const rooms = [...this.core.rooms()].sort((one, other) => lastUse(other) - lastUse(one));
    if (rooms.length === 0) throw invalidSession('there is no session that could show a code: wait for one');
    if (!this.#attempts.take()) {
      const max = PAIRING_ATTEMPTS_PER_MINUTE_MAX;
      throw new GatewayError(GatewayErrorCode.RateLimited, `at most ${max} pairings a minute: wait, then try again`);
    }
    const codes = distinctCodes(rooms);
    const declined = () => this.#declined(connection);
    const shown = [...codes].map(([{ session, label }, code]) => ({
      session: session.uri,
      title: label,
      code: `${code.slice(0, 3)} ${code.slice(3)}`,
    }));
    const hide = this.show({ name, codes: shown, declined });
    const cancelTimer = this.core.clock.after(PAIRING_CODE_TTL_MS, () => this.abandon(connection));
    const end = () => {
      cancelTimer();
      hide();
    };
    this.#open.set(connection, { codes, end });
    return PROMPT;
  }

  /** The session whose code this is. Right or wrong, the codes are spent. */
  confirm(connection: ProviderConnection, code: string): string | undefined {
    const pairing = this.#open.get(connection);
    this.abandon(connection);
    if (!pairing) return undefined;
    // Every code is compared, so that time tells nothing about which one it was.
    const matching = [...pairing.codes].filter(([, expected]) => isSame(code, expected));
    return matching.find(([room]) => !room.isEnding)?.[0].id;
  }

  abandon(connection: ProviderConnection): void {
    this.#open.get(connection)?.end();
    this.#open.delete(connection);
  }

  /** Codes of which no session is left are of no use. */
  closed(room: Room): void {
    for (const [connection, { codes }] of this.#open) {
      if (codes.has(room) && [...codes.keys()].every(({ isEnding }) => isEnding)) this.abandon(connection);
    }
  }

  #declined(connection: ProviderConnection): void {
    this.abandon(connection);
    const message = 'a person declined';
    connection.send({ type: 'error', code: GatewayErrorCode.AuthFailed, message, replyTo: 'auth' });
    connection.close(CloseCode.PolicyViolation, GatewayErrorCode.AuthFailed);
  }
}

function lastUse({ session }: Room): number {
  return session.state.summary.modifiedAt;
}

function distinctCodes(rooms: readonly Room[]): Map<Room, string> {
  const codes = new Map<Room, string>();
  const taken = new Set<string>();
  for (const room of rooms) {
    let code = newCode();
    while (taken.has(code)) code = newCode();
    taken.add(code);
    codes.set(room, code);
  }
  return codes;
}

function newCode(): string {
  return String(randomInt(10 ** PAIRING_CODE_DIGITS)).padStart(PAIRING_CODE_DIGITS, '0');
}

/** People may type the code as they read it, in two groups. */
function isSame(offered: string, expected: string): boolean {
  return matchesToken(offered.replaceAll(/[\s-]/g, ''), digestOf(expected));
}
