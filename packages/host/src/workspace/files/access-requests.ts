/**
 * `resourceRequest`: a client asks for access to a place, and a person decides. The question appears in a session that
 * the client watches, where all participants see it. Without such a session the host refuses.
 */

import type { Caller } from '@atrium/core/contracts/ports.js';
import type { Session } from '@atrium/core/sessions/session.js';
import type { Clock } from '@atrium/core/util/clock.js';
import { checkAllowedPath } from '@atrium/core/util/paths.js';
import { shorten } from '@atrium/core/util/text.js';
import type { ResourceRequestParams } from '@atrium/protocol/ahp-1';
import { type ClientRoots, type Grant, type Grants, realPathOf } from './client-roots.js';
import { filePathOf } from './file-access.js';
import { refused } from './file-errors.js';
import { type Access, suffices } from './roots.js';

export const REQUESTS_MAX = 4;
/** A question without an answer is withdrawn after this time. */
export const REQUEST_TIMEOUT_MS = 5 * 60 * 1_000;
/** How much of a path, and of a client's name, a question shows. */
const ASKED_PATH_MAX_CHARACTERS = 500;
const ASKER_MAX_CHARACTERS = 100;
const ANSWER_TEXTS: Readonly<Record<Exclude<Answer, 'granted'>, string>> = {
  declined: 'a person said no',
  over: 'no person answered',
};

/** The part of the host that access requests use. */
export interface AccessRequestsHost {
  readonly clock: Clock;
  readonly sessions: { readonly inMemory: ReadonlyMap<string, Session> };
  /** The channels that a connection is subscribed to. */
  watchedBy(connection: Caller): readonly string[];
}

interface AccessRequestsOptions {
  readonly host: AccessRequestsHost;
  readonly roots: ClientRoots;
  readonly grants: Grants;
}

type Answer = 'granted' | 'declined' | 'over';

interface Open {
  readonly connection: Caller;
  readonly session: Session;
  end(answer: Answer): void;
}

export class AccessRequests {
  readonly #options: AccessRequestsOptions;
  readonly #open = new Set<Open>();

  constructor(options: AccessRequestsOptions) {
    this.#options = options;
  }

  /** Resolves when a person grants the access. */
  async request(connection: Caller, { uri, write = false }: ResourceRequestParams): Promise<void> {
    const { roots, grants } = this.#options;
    const clientId = connection.identity?.clientId ?? '';
    const file = filePathOf(uri);
    if ('problem' in file) throw refused(`${uri}: ${file.problem}`);
    const wanted: Access = write ? 'write' : 'read';
    const real = await realPathOf(file.path);
    await checkAllowedPath(real, uri).catch((error) => Promise.reject(refused(error.message)));
    const table = await roots.tableFor(clientId);
    // A client that already has access needs no question, unless a link leads elsewhere.
    if (table.enter(file.path, wanted) && suffices(table.accessTo(real), wanted)) return;
    const session = this.#sessionOf(connection, uri);
    const { credential } = connection.access;
    const grant = { requested: file.path, real, access: wanted, session: session.uri, credential: credential.id };
    const answer = await this.#ask(connection, session, grant);
    if (answer !== 'granted') throw refused(`${uri}: ${ANSWER_TEXTS[answer]}`);
    grants.add(clientId, grant);
  }

  /** The connection has closed; withdraws its questions. */
  left(connection: Caller): void {
    for (const open of [...this.#open]) if (open.connection === connection) open.end('over');
  }

  sessionClosed(session: Session): void {
    for (const open of [...this.#open]) if (open.session === session) open.end('over');
  }

  /** The session in which the client is the active client, or else the one that it watched last. */
  #sessionOf(connection: Caller, uri: string): Session {
    const { host } = this.#options;
    const mine = [...this.#open].filter((open) => open.connection === connection);
    if (mine.length >= REQUESTS_MAX) throw refused(`${uri}: people are being asked ${REQUESTS_MAX} things already`);
    const watched = host.watchedBy(connection).flatMap((uri) => host.sessions.inMemory.get(uri) ?? []);
    const isActive = ({ state }: Session) =>
      state.activeClients.some(({ clientId }) => clientId === connection.identity?.clientId);
    const rank = (session: Session) => Number(isActive(session)) * Number.MAX_SAFE_INTEGER + changedAt(session);
    const [best] = watched.sort((a, b) => rank(b) - rank(a));
    if (!best) throw refused(`${uri}: no session to ask in. Subscribe to a session first; the question appears there`);
    return best;
  }

  #ask(connection: Caller, session: Session, grant: Grant): Promise<Answer> {
    const { clock } = this.#options.host;
    return new Promise((resolve) => {
      const end = (answer: Answer) => {
        this.#open.delete(open);
        cancel();
        withdraw();
        resolve(answer);
      };
      const open = { connection, session, end };
      this.#open.add(open);
      const cancel = clock.after(REQUEST_TIMEOUT_MS, () => end('over'));
      const request = { id: `access-${crypto.randomUUID()}`, message: questionOf(connection, grant), questions: [] };
      const answered = (response: string) => end(response === 'accept' ? 'granted' : 'declined');
      const withdraw = session.standing.ask(request, answered);
    });
  }
}

function changedAt({ chats }: Session): number {
  return Math.max(...chats.map(({ state }) => Date.parse(state.modifiedAt)));
}

/** The question names the real path, so that no link misleads people. */
function questionOf(connection: Caller, { requested: given, real, access }: Grant): string {
  const name = visible(connection.identity?.clientId ?? '', ASKER_MAX_CHARACTERS);
  const verb = access === 'write' ? 'read and change' : 'read';
  const leads = real === given ? '' : ` (asked for as ${visible(given, ASKED_PATH_MAX_CHARACTERS)})`;
  return [
    `May the client "${name}" ${verb} ${visible(real, ASKED_PATH_MAX_CHARACTERS)}${leads}, and everything in it?`,
    'Your answer holds until this session is disposed of, or the host stops.',
  ].join('\n');
}

/** Removes quotes and control characters, so that a name cannot look like part of the question. */
function visible(text: string, maxCharacters: number): string {
  return shorten(text.replace(/["\p{Cc}\p{Cf}]/gu, '?'), maxCharacters);
}
