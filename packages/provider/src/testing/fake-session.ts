/** The registration of a bound provider at a fake gateway, and the calls that a test can make to it. */
import { newId } from '@atrium/link';
import {
  GATE_TIMEOUT_MS,
  gateDecisionOf,
  type ProviderGateRule,
  type ProviderHelloMessage,
  type ProviderHookRule,
  type ProviderMatch,
  type ProviderToolDefinition,
  type ProviderTransform,
  type ToGatewayMessage,
  type ToolOutcome,
  type ToProviderMessage,
  TRANSFORM_TIMEOUT_MS,
  toolOutcomeOf,
  transformContentOf,
} from '@atrium/protocol/provider';
import { allow, context, deny, type Verdict } from '../hooks.js';

export interface FakeCall {
  readonly id: string;
  readonly outcome: Promise<ToolOutcome>;
  /** What the tool said so far. */
  readonly progress: readonly string[];
  /** Cancels as a gateway does after a timeout or an interrupted turn. */
  cancel(reason?: string): void;
}

export class FakeSession {
  readonly hello: ProviderHelloMessage;
  readonly sessionId: string;
  tools: ReadonlyMap<string, ProviderToolDefinition>;
  rules: readonly ProviderHookRule[];
  transforms: ReadonlyMap<string, ProviderTransform>;
  context: string;
  readonly #send: (message: ToProviderMessage) => void;
  readonly #waiting = new Map<string, (message: ToGatewayMessage) => void>();
  readonly #progress = new Map<string, string[]>();

  constructor(hello: ProviderHelloMessage, sessionId: string, send: (message: ToProviderMessage) => void) {
    this.hello = hello;
    this.sessionId = sessionId;
    this.tools = new Map((hello.tools ?? []).map((tool) => [tool.name, tool]));
    this.rules = hello.hooks?.onPreToolUse ?? [];
    this.transforms = new Map(Object.entries(hello.hooks?.transforms ?? {}));
    this.context = hello.context ?? '';
    this.#send = send;
  }

  /** Handles an answer, or a change of the registration. */
  take(message: ToGatewayMessage): void {
    if (message.type === 'tool.progress') this.#progress.get(message.id)?.push(message.message);
    if (message.type === 'tool.result') this.#answer(message.id, message);
    if (message.type === 'gate.result' || message.type === 'transform.result') this.#answer(message.callId, message);
    if (message.type === 'context.update') this.context = message.context ?? '';
    if (message.type === 'tools.update') {
      const kept = [...this.tools].filter(([name]) => !message.remove?.includes(name));
      this.tools = new Map([...kept, ...(message.tools ?? []).map((tool) => [tool.name, tool] as const)]);
    }
    if (message.type === 'hooks.update') {
      this.rules = message.onPreToolUse ?? this.rules;
      const merged = Object.entries({ ...Object.fromEntries(this.transforms), ...message.transforms });
      this.transforms = new Map(merged.flatMap(([section, change]) => (change ? [[section, change] as const] : [])));
    }
  }

  begin(tool: string, args: Readonly<Record<string, unknown>>): FakeCall {
    const { sessionId } = this;
    const id = newId();
    const progress: string[] = [];
    this.#progress.set(id, progress);
    const outcome = this.#reply(id).then((message) => {
      this.#progress.delete(id);
      if (message?.type !== 'tool.result') throw new Error(`${tool} was not answered with a tool.result`);
      return toolOutcomeOf(message);
    });
    this.#send({ type: 'tool.call', id, sessionId, tool, args: { ...args } });
    const cancel = (reason = 'interrupted') => this.#send({ type: 'tool.cancel', id, sessionId, reason });
    return { id, outcome, progress, cancel };
  }

  /** The verdict on a tool call of any owner: rules first, then gates; a single denial wins. */
  async check(tool: string, args: Readonly<Record<string, unknown>>, provider?: string): Promise<Verdict> {
    const rules = matchingRules(this.rules, { tool, args, provider });
    const verdicts = await Promise.all(rules.map((rule) => this.#verdict(rule, tool, args)));
    const denied = verdicts.find(({ decision }) => decision === 'deny');
    if (denied) return denied;
    const notes = verdicts.flatMap((verdict) => (verdict.decision === 'context' ? [verdict.reason] : []));
    return notes.length === 0 ? allow() : context(notes.join('\n'));
  }

  /** A section of the system prompt after the provider's transforms. */
  async transform(section: string, current: string): Promise<string> {
    const transform = this.transforms.get(section);
    if (!transform) return current;
    if (transform.action === 'append') return `${current}\n${transform.content}`;
    if (transform.action === 'prepend') return `${transform.content}\n${current}`;
    if (transform.action === 'replace') return transform.content;
    const callId = newId();
    const reply = this.#reply(callId, TRANSFORM_TIMEOUT_MS);
    this.#send({ type: 'transform.request', callId, sessionId: this.sessionId, section, current });
    const answer = await reply;
    return answer?.type === 'transform.result' ? (transformContentOf(answer) ?? current) : current;
  }

  async #verdict(rule: ProviderHookRule, tool: string, args: Readonly<Record<string, unknown>>): Promise<Verdict> {
    if (rule.action === 'deny') return deny(rule.reason);
    return rule.action === 'context' ? context(rule.content) : this.#ask(rule, tool, args);
  }

  async #ask(
    { gateId, failOpen }: ProviderGateRule,
    tool: string,
    args: Readonly<Record<string, unknown>>,
  ): Promise<Verdict> {
    const callId = newId();
    const reply = this.#reply(callId, GATE_TIMEOUT_MS);
    this.#send({ type: 'gate.check', gateId, callId, sessionId: this.sessionId, tool, args: { ...args } });
    const answer = await reply;
    if (answer?.type !== 'gate.result') return failOpen ? allow() : deny('no answer in time');
    const decision = gateDecisionOf(answer);
    return decision === 'allow' ? allow() : { decision, reason: answer.reason ?? '' };
  }

  #reply(id: string, timeoutMs?: number): Promise<ToGatewayMessage | undefined> {
    return new Promise((resolve) => {
      const timer = timeoutMs === undefined ? undefined : setTimeout(() => resolve(undefined), timeoutMs);
      this.#waiting.set(id, (message) => {
        clearTimeout(timer);
        resolve(message);
      });
    });
  }

  #answer(id: string, message: ToGatewayMessage): void {
    this.#waiting.get(id)?.(message);
    this.#waiting.delete(id);
  }
}

interface MatchedCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** The provider whose tool it is, if it is one's. */
  readonly provider?: string | undefined;
}

/** Simple on purpose: a test's patterns are its author's own. */
function matchingRules(rules: readonly ProviderHookRule[], call: MatchedCall): ProviderHookRule[] {
  return rules.filter(({ match }) => matches(match, call));
}

function matches({ tool, args, provider, file }: ProviderMatch, call: MatchedCall): boolean {
  return (
    (tool === undefined || tool === '*' || tool === call.tool) &&
    (provider === undefined || provider === call.provider) &&
    (args === undefined || new RegExp(args).test(JSON.stringify(call.args))) &&
    (file === undefined || paths(call.args).some((path) => glob(file).test(path)))
  );
}

function paths(args: MatchedCall['args']): string[] {
  return Object.values(args).filter((value) => typeof value === 'string');
}

/** A pattern without a slash is about the last part of a path. */
function glob(pattern: string): RegExp {
  const source = pattern
    .replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('**', '\0')
    .replaceAll('*', '[^/]*')
    .replaceAll('?', '[^/]')
    .replaceAll('\0', '.*');
  return new RegExp(pattern.includes('/') ? `^${source}$` : `(^|/)${source}$`);
}
