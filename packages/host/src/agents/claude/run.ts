/** One turn: the program is started, told the message, listened to until it has answered, and gone. */

import type { AgentTurn } from '../../core/contracts/agent.js';
import { untilAborted } from '../../core/util/waiting.js';
import { transcriptOf } from '../transcript.js';
import { Calls } from './calls.js';
import type { ClaudeSettings } from './claude-agent.js';
import { type FailurePlace, isLost, programError, resultError } from './errors.js';
import { hooksOf, permissionsOf } from './hooks.js';
import { HostTools } from './host-tools.js';
import { EXIT_MAX_MS, HOOK_CONTEXT_MAX_CHARACTERS, STOP_MAX_MS, TRANSCRIPT_LIMITS } from './limits.js';
import type { Beginning } from './memory.js';
import { messageBlocks, textBlock } from './message.js';
import { conversationOf, environmentOf, FIXED_OPTIONS, folderFor, promptOf } from './options.js';
import { TurnProcess } from './process.js';
import { PromptStream } from './prompt-stream.js';
import { Reader } from './reader.js';
import type { ClaudeQuery, ClaudeSdk, QueryOptions } from './sdk.js';
import type { ClaudeMessage } from './sdk-messages.js';
import { Steering } from './steering.js';

export interface RunRequest {
  readonly sdk: ClaudeSdk;
  readonly settings: ClaudeSettings;
  readonly turn: AgentTurn;
  readonly beginning: Beginning;
  /** Fires when the turn, or the session, is over. */
  readonly signal: AbortSignal;
}

export class TurnRun {
  readonly #request: RunRequest;
  readonly #process = new TurnProcess();
  readonly #prompts = new PromptStream();
  readonly #steering: Steering;
  #reader: Reader | undefined;
  #result: ClaudeMessage | undefined;

  constructor(request: RunRequest) {
    this.#request = request;
    this.#steering = new Steering(request.turn, this.#prompts);
  }

  /** How far Claude came, in its own terms. */
  get mark(): string | undefined {
    return this.#reader?.mark;
  }

  /** Throws an `AgentError` when Claude fails. False when it does not know the conversation any more: nothing was said. */
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
    const hostTools = new HostTools(turn.tools());
    const isHidden = turn.hiddenTools();
    const calls = new Calls(turn, hostTools, folder);
    this.#reader = new Reader(turn, calls, this.#model);
    const parts = { turn, calls, steering: this.#steering, context: await this.#say(folder) };
    return {
      ...FIXED_OPTIONS,
      ...conversationOf(beginning),
      cwd: folder,
      env: environmentOf(settings),
      ...(this.#model !== undefined && { model: this.#model }),
      systemPrompt: promptOf(await turn.renderPrompt()),
      tools: settings.tools.filter((tool) => !isHidden(tool)),
      mcpServers: await hostTools.serve(async (call) => {
        const outcome = await calls.runHostTool(call);
        await this.#steering.afterTool();
        return outcome;
      }),
      hooks: hooksOf(parts),
      canUseTool: permissionsOf(parts),
      spawnClaudeCodeProcess: this.#process.start,
    };
  }

  get #model(): string | undefined {
    const { turn, settings } = this.#request;
    return turn.model?.id ?? settings.models[0]?.id;
  }

  /** Says the message. Returns the context for the hook; what is too long for that goes along with the message. */
  async #say(folder: string): Promise<string> {
    const { turn, beginning } = this.#request;
    const context = turn.context.join('\n\n');
    const isLong = context.length > HOOK_CONTEXT_MAX_CHARACTERS;
    const earlier = beginning.kind === 'new' ? transcriptOf(beginning.turns, TRANSCRIPT_LIMITS) : undefined;
    const before = [...(earlier === undefined ? [] : [earlier]), ...(isLong ? [context] : [])];
    this.#prompts.push([...before.map(textBlock), ...(await messageBlocks(turn.message, folder))]);
    return isLong ? '' : context;
  }

  /** Returns what went wrong with the program itself. */
  async #listen(query: ClaudeQuery): Promise<unknown> {
    try {
      for await (const message of query) {
        this.#reader?.take(message);
        if (message.type === 'result') this.#ended(message);
      }
      return undefined;
    } catch (error) {
      // After a result that is an error, the SDK throws as well; the result says more.
      return this.#result ? undefined : error;
    }
  }

  /** Unless there is more to answer, that was the turn. */
  #ended(result: ClaudeMessage): void {
    if (!result.is_error && this.#steering.goesOn(result.user_message_uuids ?? [])) return;
    this.#result = result;
    this.#prompts.end();
    void this.#process.end(EXIT_MAX_MS);
  }

  /** Claude is told, so that it remembers where it was stopped; when it takes too long over that, it is ended. */
  #stop(query: ClaudeQuery): void {
    // At once: when it hears first that a call was denied, it asks the model what to do about that.
    query.interrupt().catch(() => {});
    this.#prompts.end();
    void this.#process.end(STOP_MAX_MS, true);
  }

  #verdict(failure: unknown): boolean {
    const result = this.#result;
    if (failure !== undefined || !result) throw programError(failure, this.#process.lastWords, this.#place);
    if (!result.is_error) return true;
    if (isLost(result)) return false;
    throw resultError(result, this.#reader?.failure, this.#place);
  }

  get #place(): FailurePlace {
    const { displayName, env } = this.#request.settings;
    return { displayName, modelId: this.#model ?? 'its model', baseURL: env.ANTHROPIC_BASE_URL };
  }
}
