/**
 * Pairing. Each session has its own code, so the code that a person types into the provider chooses the session. A code
 * is good for one guess and a short while. A request belongs to the host: it is on the `PairingBoard` once, and in no
 * session. Codes stay in memory: no agent, provider or log ever reads one.
 */
import { randomInt } from 'node:crypto';
import type { Clock } from '@atrium/core/util/clock.js';
import type { Logger } from '@atrium/core/util/logger.js';
import { RateLimit } from '@atrium/core/util/scheduling.js';
import { digestOf, matchesToken } from '@atrium/core/util/secrets.js';
import { CloseCode } from '@atrium/core/wire/transport.js';
import { visibleText } from '@atrium/protocol/ahp-1';
import {
  GatewayErrorCode,
  PAIRING_ATTEMPTS_PER_MINUTE_MAX,
  PAIRING_CODE_DIGITS,
  PAIRING_CODE_TTL_MS,
} from '@atrium/protocol/provider';
import { GatewayError, invalidSession } from './gateway-errors.js';
import type { GatewaySession } from './gateway-session.js';
import type { ProviderConnection } from './provider-connection.js';

const MINUTE_MS = 60_000;
const PROMPT = 'Type the pairing code that the host shows.';

/** Clients that show requests ask for them more often than this. */
export const LOOKING_MS = 10_000;

/** Shows the codes to people; the returned function hides them. */
export type ShowCodes = (notice: Notice) => () => void;

interface PairingsOptions {
  readonly clock: Clock;
  sessions(): readonly GatewaySession[];
  readonly show: ShowCodes;
}

interface Pairing {
  readonly codes: ReadonlyMap<GatewaySession, string>;
  /** Hides the codes. */
  end(): void;
}

export class Pairings {
  readonly #open = new Map<ProviderConnection, Pairing>();
  readonly #attempts: RateLimit;

  constructor(private readonly options: PairingsOptions) {
    this.#attempts = new RateLimit(options.clock, PAIRING_ATTEMPTS_PER_MINUTE_MAX, MINUTE_MS);
  }

  /** Returns what the provider asks its user, which is never the code. */
  begin(connection: ProviderConnection, name: string | undefined): string {
    const sessions = [...this.options.sessions()].sort((one, other) => lastUse(other) - lastUse(one));
    if (sessions.length === 0) throw invalidSession('there is no session that could show a code: wait for one');
    if (!this.#attempts.take()) {
      const max = PAIRING_ATTEMPTS_PER_MINUTE_MAX;
      throw new GatewayError(GatewayErrorCode.RateLimited, `at most ${max} pairings a minute: wait, then try again`);
    }
    const codes = distinctCodes(sessions);
    const declined = () => this.#declined(connection);
    const shown = [...codes].map(([{ uri, label }, code]) => ({
      session: uri,
      title: label,
      code: `${code.slice(0, 3)} ${code.slice(3)}`,
    }));
    const hide = this.options.show({ name, codes: shown, declined });
    const cancelTimer = this.options.clock.after(PAIRING_CODE_TTL_MS, () => this.abandon(connection));
    const end = () => {
      cancelTimer();
      hide();
    };
    this.#open.set(connection, { codes, end });
    return PROMPT;
  }

  /** The id of the session with this code. Whether right or wrong, a guess uses up all codes. */
  confirm(connection: ProviderConnection, code: string): string | undefined {
    const pairing = this.#open.get(connection);
    this.abandon(connection);
    if (!pairing) return undefined;
    // Compares every code, so that the time does not reveal which one matched.
    const matching = [...pairing.codes].filter(([, expected]) => isSame(code, expected));
    return matching.find(([session]) => !session.isEnding)?.[0].id;
  }

  abandon(connection: ProviderConnection): void {
    this.#open.get(connection)?.end();
    this.#open.delete(connection);
  }

  /** Withdraws a request when all of its sessions are ending. */
  closed(session: GatewaySession): void {
    for (const [connection, { codes }] of this.#open) {
      if (codes.has(session) && [...codes.keys()].every(({ isEnding }) => isEnding)) this.abandon(connection);
    }
  }

  #declined(connection: ProviderConnection): void {
    this.abandon(connection);
    const message = 'a person declined';
    connection.send({ type: 'error', code: GatewayErrorCode.AuthFailed, message, replyTo: 'auth' });
    connection.close(CloseCode.PolicyViolation, GatewayErrorCode.AuthFailed);
  }
}

function lastUse({ chats }: GatewaySession): number {
  return Math.max(...chats.map(({ state }) => Date.parse(state.modifiedAt)));
}

function distinctCodes(sessions: readonly GatewaySession[]): Map<GatewaySession, string> {
  const codes = new Map<GatewaySession, string>();
  const taken = new Set<string>();
  for (const session of sessions) {
    let code = newCode();
    while (taken.has(code)) code = newCode();
    taken.add(code);
    codes.set(session, code);
  }
  return codes;
}

function newCode(): string {
  return String(randomInt(10 ** PAIRING_CODE_DIGITS)).padStart(PAIRING_CODE_DIGITS, '0');
}

/** Accepts the code in the two groups in which people read it. */
function isSame(offered: string, expected: string): boolean {
  return matchesToken(offered.replaceAll(/[\s-]/g, ''), digestOf(expected));
}

export interface PairingCode {
  /** The session that the code opens. */
  readonly session: string;
  readonly title: string;
  /** As people read it: `123 456`. */
  readonly code: string;
}

export interface PairingRequest {
  readonly id: string;
  /** The name that the program gave, with invisible characters spelled out. */
  readonly name?: string;
  /** One code for each session, the session that was used last first. */
  readonly codes: readonly PairingCode[];
}

export interface Notice {
  readonly name: string | undefined;
  readonly codes: readonly PairingCode[];
  /** Called when a person says no. */
  declined(): void;
}

interface Posted {
  readonly request: PairingRequest;
  readonly declined: () => void;
}

/** Shows people which programs ask for access. */
export class PairingBoard {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #posted = new Map<string, Posted>();
  #listedAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  /** Lists the open requests, for a client that shows them to people. */
  list(): readonly PairingRequest[] {
    this.#listedAt = this.#clock.now();
    return [...this.#posted.values()].map(({ request }) => request);
  }

  /** Returns whether the request existed. */
  decline(id: string): boolean {
    const posted = this.#posted.get(id);
    this.#posted.delete(id);
    posted?.declined();
    return posted !== undefined;
  }

  /** Shows a request; the returned function hides it. */
  post({ name, codes, declined }: Notice): () => void {
    const id = `pair-${crypto.randomUUID()}`;
    const request = { id, ...(name !== undefined && { name: visibleText(name, 'line') }), codes };
    this.#posted.set(id, { request, declined });
    // No client shows requests, so people look at the console of the host next.
    if (this.#clock.now() - this.#listedAt > LOOKING_MS) this.#logger.log('warn', describeRequest(request));
    return () => void this.#posted.delete(id);
  }
}

function describeRequest({ name, codes: [first, ...others] }: PairingRequest): string {
  const who = name === undefined ? 'A local program' : `A local program '${name}'`;
  const where = `the session ${visibleText(first?.title ?? '', 'line')}`;
  const more = others.length === 0 ? '' : '; other sessions have other codes: atrium pair --session <id>';
  return `${who} asks for access. Type this code there, for ${where}: ${first?.code}${more}`;
}
