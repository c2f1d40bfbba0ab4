/** The agent of a chat: opened when it is first needed, given turns, stopped and closed. */
import { type ChatState, type ErrorInfo, sideContextUri, type Turn } from '@atrium/protocol/ahp-1';
import type { Step } from '../channels/channel.js';
import { AGENT_MEMORY_MAX_CHARACTERS, AgentError, type AgentMemory, type AgentSession } from '../contracts/agent.js';
import type { FolderPlace } from '../contracts/folder-places.js';
import { jsonText } from '../log/log.js';
import { wholeTurns } from '../tool-calls/large-results.js';
import { canReadResults, turnsForModel } from '../tool-calls/results.js';
import { isFolder } from '../util/folders.js';
import { errorText } from '../util/text.js';
import { within } from '../util/waiting.js';
import { withAnnotationTexts } from './annotations.js';
import type { Chat, ChatOptions, ChatReadiness } from './chat.js';
import { parsedTurns } from './history.js';
import { AGENT_CLOSE_MAX_MS } from './limits.js';
import { readableTurns } from './message-contents.js';
import type { SessionRecords } from './session-records.js';
import { TurnRunner } from './turn.js';

export class ChatAgent {
  readonly #chat: Chat;
  readonly #options: ChatOptions;
  readonly #opener: AgentOpener;
  #runner: TurnRunner | undefined;

  constructor(chat: Chat, options: ChatOptions, readiness: ChatReadiness) {
    this.#chat = chat;
    this.#options = options;
    this.#opener = new AgentOpener(chat, options, readiness);
  }

  get isOpening(): boolean {
    return this.#opener.isOpening;
  }

  /** Opens the agent before its first turn. */
  open(): Promise<unknown> {
    return this.#opener.opened();
  }

  /** Gives the agent a turn, unless the turn is already over. */
  run(turnId: string): void {
    const turn = this.#chat.state.activeTurn;
    if (turn?.id !== turnId) return;
    this.#runner = new TurnRunner(this.#chat, this.#options, turn);
    void this.#runner.run(this.#opener.forTurn());
  }

  /** Shows a note in the running turn. */
  notify(note: string): void {
    this.#runner?.notify(note);
  }

  /** Writes text that the agent has said and that still waits for more. */
  flushText(): void {
    this.#runner?.flushText();
  }

  /** Passes on a stored step, which a turn may be waiting for. */
  observe(step: Step<ChatState>): void {
    this.#runner?.observe(step);
  }

  clientsChanged(): void {
    this.#runner?.clientsChanged();
  }

  /** Cuts the agent's own history, too. */
  truncated(turnId: string | undefined): void {
    this.#opener.truncated(turnId);
  }

  /** Stops the agent if it works on this turn. */
  stop(turnId: string): void {
    if (this.#runner?.id === turnId) this.#runner.stop();
  }

  /** Ends the agent's process, if it keeps one, because the session rests. */
  suspend(): Promise<void> {
    return this.#opener.suspend();
  }

  async close(): Promise<void> {
    this.#runner?.stop();
    await this.#opener.close();
  }
}

/** Opens a chat's agent when it is first needed, and closes it. */
export class AgentOpener {
  readonly #chat: Chat;
  readonly #options: ChatOptions;
  readonly #abort = new AbortController();
  #opened: Promise<AgentSession> | undefined;
  #opening = false;
  /** The last preparation did not finish, because a turn was cancelled meanwhile or something failed. */
  #isUnprepared = false;
  #preparing: Promise<void> | undefined;
  /** Where the folder was when an agent last opened, here or on another host. */
  #place: Promise<FolderPlace | undefined> | undefined;
  /** Settles when the agent has taken in what it is being told; the next turn waits for it. */
  #notified: Promise<void> = Promise.resolve();

  constructor(
    chat: Chat,
    options: ChatOptions,
    private readonly around: ChatReadiness,
  ) {
    this.#chat = chat;
    this.#options = options;
  }

  get isOpening(): boolean {
    return this.#opening;
  }

  /** The agent's session, opened if necessary. A failure is not kept: the next call tries again. */
  opened(): Promise<AgentSession> {
    this.#opened ??= this.#open().catch((error) => {
      this.#opened = undefined;
      throw error;
    });
    return this.#opened;
  }

  async #open(): Promise<AgentSession> {
    const { backend, channel, worker, records, predecessor } = this.#options;
    const { uri: session, state } = this.#chat.session;
    const { provider } = state;
    if (worker?.agent) return worker.agent;
    if (!backend) throw new AgentError('agent-missing', `no agent ${provider} is available; start the host with it`);
    this.#opening = true;
    try {
      await predecessor;
      await this.#checkPlace();
      await this.around.prepare();
      await this.#checkFolder();
      await this.#rememberPlace();
      // If the session was closed meanwhile, no agent may start.
      this.#abort.signal.throwIfAborted();
      return await backend.open({
        session,
        chat: channel.uri,
        workingDirectory: this.#chat.folders[0],
        signal: this.#abort.signal,
        history: (last) => this.#history(last),
        memory: await agentMemory(this.#chat.ownKey, records),
        startProgram: this.#options.programs?.startFor(session, this.#chat.folders),
      });
    } finally {
      this.#opening = false;
    }
  }

  /**
   * The newest turns in the form that models read. For a side chat, they begin with the turns of the chat that it was
   * opened beside.
   */
  async #history(last: number): Promise<Turn[]> {
    const { channel, pages, blobs, toolOutputMaxCharacters: maxCharacters } = this.#options;
    const total = pages.total(channel.committed);
    const own = await pages.slice(channel.committed, Math.max(0, total - last), total);
    const beside = channel.live.origin?.kind === 'sideChat' ? await this.#beside(last - own.length) : [];
    const turns = [...beside, ...own];
    const whole = blobs ? await wholeTurns(blobs, turns) : turns;
    const { annotations, extensions } = this.#chat.session;
    const read = (await readableTurns(whole, blobs)).map((turn) => ({
      ...turn,
      message: withAnnotationTexts(turn.message, annotations),
    }));
    return turnsForModel(read, { maxCharacters, canRead: canReadResults(extensions, channel.uri) });
  }

  async #beside(last: number): Promise<Turn[]> {
    const { log, channel } = this.#options;
    const context = sideContextUri(channel.uri);
    const { turnCount: end = 0 } = (await log.archiveHead(context)) ?? {};
    const stored = await log.archivedTurns(context, { start: Math.max(0, end - Math.max(0, last)), end });
    return parsedTurns(stored.map(({ json }) => json));
  }

  /** The agent, after it has been told everything: a turn must not start on history that was cut. */
  async forTurn(): Promise<AgentSession> {
    await this.#notified;
    if (this.#opened && (this.#isUnprepared || this.around.isSuspended())) await this.#prepareAgain();
    const isFirst = this.#opened === undefined;
    const agent = await this.opened();
    if (!isFirst) await this.#checkPlace();
    // Skipped while the agent opens, because its folder may still be on its way. A worktree can be created again.
    if (!isFirst && (await this.#missingFolder()) !== undefined) {
      await this.#prepareAgain();
      await this.#checkFolder();
    }
    return agent;
  }

  /**
   * Fails if the folder is missing. People move and delete folders; the session can still be read then, but an agent
   * has nowhere to work.
   */
  async #checkFolder(): Promise<void> {
    const folder = await this.#missingFolder();
    if (folder === undefined) return;
    const advice = 'Put it back, or begin a new session in another folder.';
    throw new AgentError('folder-missing', `the folder of this session, ${folder}, no longer exists. ${advice}`);
  }

  /**
   * Fails if the folder was on another host: the same path here is not the same folder, and no agent may start in it.
   */
  async #checkPlace(): Promise<void> {
    const { folderPlaces, records } = this.#options;
    if (!folderPlaces) return;
    this.#place ??= records.folderPlace(this.#chat.ownKey).catch((error) => {
      this.#place = undefined;
      throw error;
    });
    const known = await this.#place;
    if (!known || known.folder !== this.#chat.folders[0]) return;
    const missing = await folderPlaces.missing(known);
    if (missing !== undefined) throw new AgentError('folder-elsewhere', missing);
  }

  async #rememberPlace(): Promise<void> {
    const { folderPlaces, records } = this.#options;
    const [folder] = this.#chat.folders;
    if (!folderPlaces || folder === undefined) return;
    const [place, known] = [await folderPlaces.placeOf(folder), await this.#place];
    this.#place = Promise.resolve(place);
    if (JSON.stringify(place) !== JSON.stringify(known)) records.setFolderPlace(this.#chat.ownKey, place);
  }

  async #missingFolder(): Promise<string | undefined> {
    const [folder] = this.#chat.folders;
    return folder === undefined || (await isFolder(folder)) ? undefined : folder;
  }

  async #prepareAgain(): Promise<void> {
    this.#opening = true;
    this.#isUnprepared = true;
    this.#preparing ??= this.around.prepare().finally(() => {
      this.#opening = false;
      this.#preparing = undefined;
    });
    await this.#preparing;
    this.#isUnprepared = false;
  }

  /** Closes an agent that keeps a process; the next turn opens it again. */
  async suspend(): Promise<void> {
    if (!this.#options.backend?.abilities.ownProcess) return;
    const resting = this.#close();
    this.#opened = undefined;
    await resting;
  }

  truncated(turnId: string | undefined): void {
    this.#notified = this.#notified.then(() => this.#notify((agent) => agent.truncated?.(turnId)));
  }

  async close(): Promise<void> {
    this.#abort.abort();
    await this.#close();
  }

  /** Closes the agent. If it does not end in time, the host goes on without it. */
  async #close(): Promise<void> {
    const { clock, logger } = this.#options;
    await within(
      clock,
      AGENT_CLOSE_MAX_MS,
      this.#notify((agent) => agent.close()),
      () => {
        logger.log('warn', 'an agent did not end in time', {
          session: this.#chat.session.uri,
          milliseconds: AGENT_CLOSE_MAX_MS,
        });
      },
    );
  }

  /** Tells the agent something, if it is open. If that fails, the session goes on. */
  async #notify(what: (agent: AgentSession) => Promise<void> | undefined): Promise<void> {
    try {
      const agent = await this.#opened?.catch(() => undefined);
      if (agent) await what(agent);
    } catch (error) {
      const { logger } = this.#options;
      logger.log('warn', 'an agent failed', { session: this.#chat.session.uri, error: String(error) });
    }
  }
}

/** The error that people read when an agent failed. */
export function errorInfo(error: unknown): ErrorInfo {
  if (error instanceof AgentError) return { errorType: error.errorType, message: error.message };
  return { errorType: 'agent-failed', message: errorText(error) };
}

/** What a session's agent stores to find its own session again. It is kept in a record, and never in the state. */
export async function agentMemory(uri: string, records: SessionRecords): Promise<AgentMemory> {
  let kept = await records.agentMemory(uri);
  return {
    get: () => (kept === undefined ? undefined : JSON.parse(kept)),
    set: (value) => {
      const text = value === undefined ? undefined : jsonText(value);
      const size = text?.length ?? 0;
      if (size > AGENT_MEMORY_MAX_CHARACTERS) {
        throw new RangeError(`an agent may keep ${AGENT_MEMORY_MAX_CHARACTERS} characters, not ${size}: keep an id`);
      }
      if (text === kept) return;
      kept = text;
      records.setAgentMemory(uri, text);
    },
  };
}
