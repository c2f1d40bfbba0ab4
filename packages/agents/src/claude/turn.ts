/** One turn with Claude: starts the program, sends the message, reads the answer, and ends the program. */
import os from 'node:os';
import path from 'node:path';
import type { AgentTurn } from '@atrium/core/contracts/agent.js';
import { makeFolder } from '@atrium/core/util/folders.js';
import { childEnvironment } from '@atrium/core/util/processes.js';
import { promptText } from '@atrium/core/util/prompt-sections.js';
import { untilAborted } from '@atrium/core/util/waiting.js';
import { projectInstructions } from '../shared/project-instructions.js';
import { transcriptOf } from '../shared/transcript.js';
import type { ClaudeSettings } from './backend.js';
import { type FailurePlace, isLost, programError, resultError } from './errors.js';
import { EventReader } from './events.js';
import { hooksOf, permissionsOf } from './hooks.js';
import { ClaudeProcess } from './process.js';
import { messageBlocks, PromptStream, Steering, textBlock } from './prompt.js';
import type { ClaudeMessage, ClaudeQuery, ClaudeSdk, QueryOptions } from './sdk.js';
import type { Beginning } from './session.js';
import { SubAgents } from './sub-agents.js';
import { HostTools } from './tools.js';

/**
 * How long the program may take to stop when it is told to; then it is killed. A cancelled turn ends within a second.
 */
const STOP_MAX_MS = 500;
/** How long it may take to end by itself after its answer: it still stores the conversation. */
const EXIT_MAX_MS = 10_000;
/** Of a longer hook text, the program shows the model only a preview; its documentation says 10,000. */
const HOOK_CONTEXT_MAX_CHARACTERS = 9_000;
/** How much Claude is told of a session that it no longer knows; the newest turns stay. */
const TRANSCRIPT_LIMITS = { maxCharacters: 100_000, callMaxCharacters: 2_000 } as const;

interface TurnRequest {
  readonly sdk: ClaudeSdk;
  readonly settings: ClaudeSettings;
  readonly turn: AgentTurn;
  readonly beginning: Beginning;
  /** Aborts when the turn or the session is over. */
  readonly signal: AbortSignal;
}

export class ClaudeTurn {
  readonly #request: TurnRequest;
  readonly #process = new ClaudeProcess();
  readonly #prompts = new PromptStream();
  readonly #steering: Steering;
  #reader: EventReader | undefined;
  #result: ClaudeMessage | undefined;

  constructor(request: TurnRequest) {
    this.#request = request;
    this.#steering = new Steering(request.turn, this.#prompts);
  }

  /** The id of Claude's last message. */
  get mark(): string | undefined {
    return this.#reader?.mark;
  }

  /**
   * Runs the turn. Throws an `AgentError` when Claude fails; returns false when Claude no longer knows the
   * conversation.
   */
  async run(): Promise<boolean> {
    const { sdk, signal } = this.#request;
    const options = await untilAborted(signal, this.#options());
    signal.throwIfAborted();
    const query = sdk.query({ prompt: this.#prompts, options });
    const stop = () => this.#stop(query);
    signal.addEventListener('abort', stop, { once: true });
    const failure = await this.#listen(query);
    signal.removeEventListener('abort', stop);
    query.close();
    await this.#process.end(signal.aborted ? STOP_MAX_MS : EXIT_MAX_MS, signal.aborted);
    signal.throwIfAborted();
    return this.#verdict(failure);
  }

  async #options(): Promise<QueryOptions> {
    const { turn, settings, beginning } = this.#request;
    const folder = await folderFor(turn, settings);
    const further = turn.workingDirectories.filter((other) => other !== folder);
    const hostTools = new HostTools(turn.tools());
    const isHidden = turn.hiddenTools();
    const agents = new SubAgents(turn, { hostTools, folder }, this.#model);
    this.#reader = new EventReader(turn, agents);
    const hookContext = { agents, steering: this.#steering, context: await this.#send(folder) };
    return {
      ...FIXED_OPTIONS,
      ...conversationOf(beginning),
      cwd: folder,
      ...(further.length > 0 && { additionalDirectories: further }),
      env: environmentOf(settings),
      ...(this.#model !== undefined && { model: this.#model }),
      // The program reads none of the folder's settings and instructions: it gets those that every agent here gets.
      systemPrompt: promptOf(await turn.renderPrompt(undefined, await this.#instructions())),
      tools: settings.tools.filter((tool) => !isHidden(tool)),
      mcpServers: await hostTools.serve(async (call) => {
        const outcome = await (await agents.of(call.id)).runHostTool(call);
        await this.#steering.afterTool();
        return outcome;
      }),
      hooks: hooksOf(hookContext),
      canUseTool: permissionsOf(hookContext),
      spawnClaudeCodeProcess: this.#process.start,
    };
  }

  get #model(): string | undefined {
    const { turn, settings } = this.#request;
    return turn.model?.id ?? settings.models[0]?.id;
  }

  /**
   * The instructions of the folders and those above them: which files the program will touch is not known in advance.
   */
  #instructions(): Promise<string> {
    const { workingDirectories: folders, signal } = this.#request.turn;
    return projectInstructions({ folders, touched: [], signal });
  }

  /**
   * Sends the message. Returns the context for the hook; a context that is too long for the hook goes with the message.
   */
  async #send(folder: string): Promise<string> {
    const { turn, beginning } = this.#request;
    const context = turn.context.join('\n\n');
    const isLong = context.length > HOOK_CONTEXT_MAX_CHARACTERS;
    const earlier = beginning.kind === 'new' ? transcriptOf(beginning.turns, TRANSCRIPT_LIMITS) : undefined;
    const before = [...(earlier === undefined ? [] : [earlier]), ...(isLong ? [context] : [])];
    this.#prompts.push([...before.map(textBlock), ...(await messageBlocks(turn.message, folder))]);
    return isLong ? '' : context;
  }

  /** Reads Claude's messages to the end. Returns the error if the program itself failed. */
  async #listen(query: ClaudeQuery): Promise<unknown> {
    try {
      for await (const message of query) {
        this.#reader?.take(message);
        const behind = this.#request.turn.caughtUp();
        if (behind) await behind;
        if (message.type === 'result') this.#ended(message);
      }
      return undefined;
    } catch (error) {
      // After an error result the SDK also throws, but the result says more.
      return this.#result ? undefined : error;
    }
  }

  /** Ends the turn, unless a person has sent more meanwhile. */
  #ended(result: ClaudeMessage): void {
    if (!result.is_error && this.#steering.matches(result.user_message_uuids ?? [])) return;
    this.#result = result;
    this.#prompts.end();
    void this.#process.end(EXIT_MAX_MS);
  }

  /** Interrupts Claude, so that it stores where it was stopped, and kills it if that takes too long. */
  #stop(query: ClaudeQuery): void {
    // At once: after a denied call, Claude would ask the model what to do next.
    query.interrupt().catch(() => {});
    this.#prompts.end();
    void this.#process.end(STOP_MAX_MS, true);
  }

  #verdict(failure: unknown): boolean {
    const result = this.#result;
    if (failure !== undefined || !result) throw programError(failure, this.#process.stderrTail, this.#place);
    if (!result.is_error) return true;
    if (isLost(result)) return false;
    throw resultError(result, this.#reader?.failure, this.#place);
  }

  get #place(): FailurePlace {
    const { displayName, env } = this.#request.settings;
    return { displayName, modelId: this.#model ?? 'its model', baseURL: env.ANTHROPIC_BASE_URL };
  }
}

type Fixed = Pick<
  QueryOptions,
  | 'settingSources'
  | 'strictMcpConfig'
  | 'includePartialMessages'
  | 'verbatimPrompts'
  | 'forwardSubagentText'
  | 'permissionMode'
  | 'thinking'
>;

/** Switches off the settings, servers and file mentions that Claude uses in a terminal. */
const FIXED_OPTIONS: Fixed = {
  settingSources: [],
  strictMcpConfig: true,
  includePartialMessages: true,
  verbatimPrompts: true,
  forwardSubagentText: true,
  permissionMode: 'default',
  thinking: { type: 'adaptive', display: 'summarized' },
};

const FIXED_ENVIRONMENT = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
  DISABLE_ERROR_REPORTING: '1',
  DISABLE_TELEMETRY: '1',
  // The program ends with the turn, and so does everything that it started.
  CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
  // People have seen half of the answer. A second one without streaming would show it twice, or never.
  CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK: '1',
};

export function environmentOf({ env, configDir }: ClaudeSettings): Readonly<Record<string, string | undefined>> {
  return {
    ...childEnvironment(),
    ...FIXED_ENVIRONMENT,
    ...(configDir !== undefined && { CLAUDE_CONFIG_DIR: configDir }),
    ...env,
  };
}

/** The folder to work in. Without one, an empty folder is used, because Claude reads its folder without asking. */
async function folderFor(turn: AgentTurn, { configDir }: ClaudeSettings): Promise<string> {
  if (turn.workingDirectory !== undefined) return turn.workingDirectory;
  const folder = path.join(configDir ?? path.join(os.homedir(), '.claude'), 'no-folder');
  await makeFolder(folder);
  return folder;
}

/** Claude's own prompt, followed by the host's text, which is rendered for every turn. */
function promptOf(sections: ReadonlyMap<string, string>): QueryOptions['systemPrompt'] {
  const append = promptText(sections);
  return { type: 'preset', preset: 'claude_code', snapshot: false, ...(append !== '' && { append }) };
}

function conversationOf(beginning: Beginning): Pick<QueryOptions, 'sessionId' | 'resume' | 'resumeSessionAt'> {
  if (beginning.kind === 'new') return { sessionId: beginning.conversation };
  const { conversation, marks } = beginning.memory;
  const last = marks.at(-1)?.[1];
  return { resume: conversation, ...(beginning.isCut && last !== undefined && { resumeSessionAt: last }) };
}
