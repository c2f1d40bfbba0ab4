/** An `AgentTurn` that writes down what an agent does, and answers as a test tells it to. */
import { setMaxListeners } from 'node:events';
import type {
  AgentBackend,
  AgentRunCall,
  AgentSession,
  AgentTurn,
  BegunCall,
  CallStart,
  InputOutcome,
  OpenWorker,
  PlannedTask,
  ScriptedToolCall,
  ToolOutcome,
  ToolRequest,
  WorkerStart,
} from '@atrium/core/contracts/agent.js';
import type {
  ChatInputRequest,
  Compaction,
  Message,
  ModelSelection,
  ToolDefinition,
  UsageInfo,
} from '@atrium/protocol/ahp-1';
import { builtinTools } from '../../src/workspace/tools/builtin.js';

export type TurnEvent =
  | { readonly text: string }
  | { readonly reasoning: string }
  | { readonly notify: string }
  | { readonly compacted: Compaction }
  | { readonly usage: UsageInfo }
  | { readonly plan: readonly PlannedTask[] }
  | { readonly title: string }
  | { readonly activity: string | undefined }
  | { readonly callTool: ToolRequest }
  | { readonly input: string }
  | { readonly failedCall: { readonly name: string; readonly message: string } }
  | { readonly scriptedTool: ScriptedToolCall }
  | { readonly ask: ChatInputRequest }
  | { readonly worker: WorkerStart; readonly events: readonly TurnEvent[] };

type Eventually<T> = T | Promise<T>;
type Prompt = Readonly<Record<string, string>>;

export interface FakeTurnOptions {
  readonly id?: string;
  readonly model?: ModelSelection;
  readonly workingDirectory?: string;
  readonly tools?: readonly ToolDefinition[];
  readonly context?: readonly string[];
  callTool?(call: ToolRequest): Eventually<ToolOutcome>;
  scriptedTool?(call: ScriptedToolCall): Eventually<ToolOutcome>;
  ask?(request: ChatInputRequest): Eventually<InputOutcome>;
  /** The sections; made anew by every render, of what the agent hands in, when it is a function. */
  readonly prompt?: Prompt | ((pristine: Prompt) => Prompt);
}

export class FakeTurn implements AgentTurn {
  readonly id: string;
  readonly model: ModelSelection | undefined;
  readonly agent = undefined;
  readonly context: readonly string[];
  readonly message: Message;
  readonly workingDirectory: string | undefined;
  readonly events: TurnEvent[] = [];
  /** What a person still has to say to steer the turn. */
  readonly steering: string[] = [];
  private readonly controller = new AbortController();

  constructor(
    text: string,
    private readonly options: FakeTurnOptions = {},
  ) {
    // Every call that runs listens, as in a turn of the host.
    setMaxListeners(0, this.controller.signal);
    this.id = options.id ?? 'turn-1';
    this.model = options.model;
    this.message = messageOf(text);
    this.context = options.context ?? [];
    this.workingDirectory = options.workingDirectory;
  }

  get workingDirectories(): readonly string[] {
    return this.workingDirectory === undefined ? [] : [this.workingDirectory];
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** All text in one piece. */
  get said(): string {
    return this.events.map((event) => ('text' in event ? event.text : '')).join('');
  }

  cancel(): void {
    this.controller.abort();
  }

  text(content: string): void {
    this.events.push({ text: content });
  }

  reasoning(content: string): void {
    this.events.push({ reasoning: content });
  }

  interrupt(): void {}

  notify(content: string): void {
    this.events.push({ notify: content });
  }

  compacted(compaction: Compaction): void {
    this.events.push({ compacted: compaction });
  }

  usage(usage: UsageInfo): void {
    this.events.push({ usage });
  }

  title(title: string): void {
    this.events.push({ title });
  }

  activity(text: string | undefined): void {
    this.events.push({ activity: text });
  }

  caughtUp(): Promise<void> | undefined {
    return undefined;
  }

  tools(): ToolDefinition[] {
    return [...(this.options.tools ?? [])];
  }

  plan(tasks: readonly PlannedTask[]): void {
    this.events.push({ plan: tasks });
  }

  nextStep(): undefined {
    return undefined;
  }

  hiddenTools(): (toolName: string) => boolean {
    return () => false;
  }

  async callTool(call: ToolRequest): Promise<ToolOutcome> {
    this.events.push({ callTool: call });
    return this.options.callTool?.(call) ?? completed('');
  }

  beginCall({ id = 'call-1', name }: CallStart): BegunCall {
    return {
      id,
      delta: (input) => void this.events.push({ input }),
      run: (input) => this.callTool({ name, input }),
      fail: async (message) => {
        this.events.push({ failedCall: { name, message } });
        return completed(message, false);
      },
    };
  }

  agentRunCall(): AgentRunCall {
    throw new Error('this turn is for agents without tools of their own');
  }

  /** Runs the worker on a turn of its own, whose events come with the outcome. */
  openWorker(start: WorkerStart): OpenWorker {
    const inner = new FakeTurn(start.prompt, { ...this.options, id: `${this.id}-worker` });
    this.events.push({ worker: start, events: inner.events });
    const chat = `ahp-chat:/${start.toolCallId}`;
    const run = start.run?.(inner) ?? Promise.resolve();
    const ended = run.then(
      () => ({ chat, state: 'complete' as const, text: inner.said }),
      (error) => ({ chat, state: 'error' as const, text: inner.said, error: String(error) }),
    );
    return { chat, ended };
  }

  async scriptedTool(call: ScriptedToolCall): Promise<ToolOutcome> {
    this.events.push({ scriptedTool: call });
    return this.options.scriptedTool?.(call) ?? completed(call.output, call.success);
  }

  async ask(request: ChatInputRequest): Promise<InputOutcome> {
    this.events.push({ ask: request });
    return this.options.ask?.(request) ?? { response: 'cancel', answers: {} };
  }

  async renderPrompt(pristine?: ReadonlyMap<string, string>): Promise<ReadonlyMap<string, string>> {
    const { prompt = {} } = this.options;
    const given = Object.fromEntries(pristine ?? []);
    return new Map(Object.entries(typeof prompt === 'function' ? prompt(given) : prompt));
  }

  takeSteering(): Message | undefined {
    const text = this.steering.shift();
    return text === undefined ? undefined : messageOf(text);
  }
}

/** A message of a person. */
export function messageOf(text: string): Message {
  return { text, origin: { kind: 'user' } };
}

export function completed(text: string, success = true): ToolOutcome {
  return { kind: 'completed', success, text, content: [{ type: 'text', text }] };
}

/** Runs the host's own tools in a folder; those that ask a person are approved or denied as told. */
export function realTools(cwd: string, approve = true): (call: ToolRequest) => Promise<ToolOutcome> {
  return async ({ name, input }) => {
    const tool = builtinTools().find(({ definition }) => definition.name === name);
    if (!tool) throw new Error(`no tool ${name}`);
    if (tool.confirmation?.(input) && !approve) return { kind: 'denied', reason: 'Not today.' };
    const signal = new AbortController().signal;
    const { success, content } = await tool.run(input, { cwd, signal, progress: () => {} });
    return completed(content.map((block) => ('text' in block ? block.text : '')).join('\n'), success);
  };
}

export function openSession(agent: AgentBackend, session = 'ahp-session:/1'): Promise<AgentSession> {
  return agent.open({
    session,
    chat: 'ahp-chat:/1',
    workingDirectory: undefined,
    signal: new AbortController().signal,
    history: async () => [],
    memory: { get: () => undefined, set: () => {} },
  });
}

/** Opens a session and runs one turn in it. */
export async function runTurn(agent: AgentBackend, turn: FakeTurn): Promise<FakeTurn> {
  await (await openSession(agent)).runTurn(turn);
  return turn;
}
