/**
 * What extensions add to the prompt. Stage 1, rules: the project's instructions, the rules of plugins and the words of
 * a selected agent go into `custom_instructions`. Stage 2, static transforms: texts that extensions gave in advance.
 * Stage 3, callbacks: extensions that see a section before they change it. A change that makes a section too large is
 * left out; all other changes are logged at debug level, with hashes and never with text.
 */
import { createHash } from 'node:crypto';
import type { AgentAbilities } from '../contracts/agent.js';
import type { Extension, RenderFacts, SectionCallback, StaticTransform } from '../contracts/extension.js';
import type { Clock } from '../util/clock.js';
import { isHeard, type Logger } from '../util/logger.js';
import { CUSTOM_INSTRUCTIONS, followed, type Sections } from '../util/prompt-sections.js';
import { withDeadline } from '../util/waiting.js';
import { CALLBACK_TIMEOUT_MS, CALLBACKS_TIMEOUT_MS, PROMPT_SECTION_MAX_CHARACTERS } from './limits.js';
import type { SessionSection } from './session-sections.js';

export interface RulesRequest extends ChangeLog {
  readonly extensions: readonly Extension[];
  readonly facts: RenderFacts;
  /** Separate from the agent's own text, because the agent did not write it. */
  readonly projectInstructions?: string | undefined;
}

/** Names the project as the author of its instructions, in the log. */
const PROJECT = 'project';

/** Stage 1. A prompt without `custom_instructions` gets that section, so that rules are not lost. */
export function withRules(sections: Sections, request: RulesRequest): Sections {
  const first = sections.get(CUSTOM_INSTRUCTIONS) ?? '';
  let text = first;
  for (const { by, rule } of allRules(request)) {
    const change = { stage: 'rules', by, section: CUSTOM_INSTRUCTIONS, before: text } as const;
    text = applied({ ...change, after: followed(text, rule) }, request);
  }
  return text === first ? sections : new Map(sections).set(CUSTOM_INSTRUCTIONS, text);
}

function* allRules(request: RulesRequest): Generator<{ readonly by: string; readonly rule: string }> {
  const { projectInstructions: rule, extensions } = request;
  if (rule !== undefined) yield { by: PROJECT, rule };
  for (const extension of extensions)
    for (const own of rulesOf(extension, request)) yield { by: extension.id, rule: own };
}

/** The rules of an extension; none if it fails. */
function rulesOf({ id, prompt }: Extension, { facts, session, logger }: RulesRequest): readonly string[] {
  try {
    return prompt?.rules?.(facts) ?? [];
  } catch (error) {
    logger.log('debug', 'an extension failed to give its rules', { session, by: id, error: String(error) });
    return [];
  }
}

type Action = StaticTransform['action'];

const ACTIONS: Readonly<Record<Action, (text: string, content: string) => string>> = {
  replace: (_text, content) => content,
  prepend: (text, content) => followed(content, text),
  append: followed,
};

/**
 * Stage 2. Each section is first replaced (the last replacement wins). Then texts are put before and after it, so that
 * they read from top to bottom in the order of the extensions.
 */
export function withStaticTransforms(sections: Sections, extensions: readonly Extension[], log: ChangeLog): Sections {
  const transforms = transformsOf(extensions);
  if (transforms.length === 0) return sections;
  const result = new Map(sections);
  for (const { by, transform } of inOrder(transforms)) {
    const { section, action, content } = transform;
    const before = result.get(section);
    // A missing section is no mistake: other agents have it.
    if (before === undefined) continue;
    const after = ACTIONS[action](before, content);
    result.set(section, applied({ stage: 'static', by, section, before, after }, log));
  }
  return result;
}

/**
 * What extensions append to protected sections. It goes into a block before each section, so that the section itself
 * stays as it is. Any other transform of a protected section is ignored.
 */
export function asidesOf(kept: Sections, extensions: readonly Extension[], log: ChangeLog): Sections {
  const asides = new Map<string, string>();
  for (const { by, transform } of transformsOf(extensions)) {
    const { section, action, content } = transform;
    if (action !== 'append' || !kept.has(section)) continue;
    const before = asides.get(section) ?? '';
    const after = followed(before, content);
    asides.set(section, applied({ stage: 'static', by, section, before, after }, log));
  }
  return asides;
}

/** Names the client that created the session, in the log. */
const CREATOR = 'creator';

/**
 * After stage 2: adds the text of the client that created the session. A section that this prompt lacks becomes
 * `custom_instructions`.
 */
export function withSessionSections(sections: Sections, added: readonly SessionSection[], log: ChangeLog): Sections {
  if (added.length === 0) return sections;
  const result = new Map(sections);
  for (const { section: wanted, action, content } of added) {
    if (content.trim() === '') continue;
    const section = result.has(wanted) ? wanted : CUSTOM_INSTRUCTIONS;
    const before = result.get(section) ?? '';
    const after = ACTIONS[action](before, content);
    result.set(section, applied({ stage: 'session', by: CREATOR, section, before, after }, log));
  }
  return result;
}

interface OwnedTransform {
  readonly by: string;
  readonly transform: StaticTransform;
}

function transformsOf(extensions: readonly Extension[]): OwnedTransform[] {
  return extensions.flatMap(({ id: by, prompt }) => (prompt?.transforms ?? []).map((transform) => ({ by, transform })));
}

/** The order in which to apply transforms. Prepended texts go backwards, because the one prepended last comes first. */
function inOrder(transforms: readonly OwnedTransform[]): OwnedTransform[] {
  const of = (action: Action) => transforms.filter(({ transform }) => transform.action === action);
  return [...of('replace'), ...of('prepend').reverse(), ...of('append')];
}

/**
 * Stages 1 and 2 for agents with a prompt of their own, to which the host can add only one text. Rules, and texts that
 * extensions append to any section, become `custom_instructions`.
 */
export function additions(request: RulesRequest): Sections {
  const rules = withRules(new Map(), request);
  let text = rules.get(CUSTOM_INSTRUCTIONS) ?? '';
  for (const { by, transform } of transformsOf(request.extensions)) {
    if (transform.action !== 'append') continue;
    const change = { stage: 'static', by, section: CUSTOM_INSTRUCTIONS, before: text } as const;
    text = applied({ ...change, after: followed(text, transform.content) }, request);
  }
  return text === '' ? new Map() : new Map([[CUSTOM_INSTRUCTIONS, text]]);
}

/** Names the transforms that this agent cannot honour, so that the host can say so. */
export function unsupportedTransforms({ render }: AgentAbilities, extensions: readonly Extension[]): string[] {
  if (render === 'sections') return [];
  const isLost = extensions.some(({ prompt }) => {
    const transforms = prompt?.transforms ?? [];
    const lost = render === 'none' ? transforms : transforms.filter(({ action }) => action !== 'append');
    return lost.length > 0 || (prompt?.callbacks ?? []).length > 0;
  });
  return isLost ? [`transforms:${render}`] : [];
}

export interface CallbacksRequest extends ChangeLog {
  readonly extensions: readonly Extension[];
  readonly memory: CallbackMemory;
  readonly clock: Clock;
  /** Aborts when the turn is over. */
  readonly signal: AbortSignal;
}

/** The answers of one turn: its later prompts ask again only about text that has changed. */
export class CallbackMemory {
  readonly #answers = new Map<string, { readonly text: string; readonly answer: Promise<string> }>();

  answer(slot: string, text: string, ask: () => Promise<string>): Promise<string> {
    const known = this.#answers.get(slot);
    if (known?.text === text) return known.answer;
    const answer = ask();
    this.#answers.set(slot, { text, answer });
    return answer;
  }
}

/**
 * Stage 3. Sections are processed at the same time, the callbacks of one section one after another. A callback that
 * does not answer in time leaves the text as it is.
 */
export async function withCallbacks(sections: Sections, request: CallbacksRequest): Promise<Sections> {
  const chains = chainsOf(request.extensions);
  const concerned = [...sections].filter(([id]) => chains.has(id));
  if (concerned.length === 0) return sections;
  const overdue = new AbortController();
  const disarm = request.clock.after(CALLBACKS_TIMEOUT_MS, () => overdue.abort());
  const hurried = { ...request, signal: AbortSignal.any([request.signal, overdue.signal]) };
  const result = new Map(sections);
  const work = concerned.map(async ([id, text]) =>
    result.set(id, await throughChain(chains.get(id) ?? [], text, hurried)),
  );
  await Promise.all(work);
  disarm();
  return result;
}

/** A callback, and the place for its answer. */
interface Link {
  readonly by: string;
  readonly callback: SectionCallback;
  readonly slot: string;
}

/** All callbacks by section, in the order of the extensions. */
function chainsOf(extensions: readonly Extension[]): ReadonlyMap<string, readonly Link[]> {
  const chains = new Map<string, Link[]>();
  for (const { id: by, prompt } of extensions) {
    for (const [index, callback] of (prompt?.callbacks ?? []).entries()) {
      const chain = chains.get(callback.section) ?? [];
      chain.push({ by, callback, slot: JSON.stringify([by, callback.section, index]) });
      chains.set(callback.section, chain);
    }
  }
  return chains;
}

async function throughChain(links: readonly Link[], first: string, request: CallbacksRequest): Promise<string> {
  let text = first;
  for (const { by, callback, slot } of links) {
    const after = await request.memory.answer(slot, text, () => ask(by, callback, text, request));
    text = applied({ stage: 'callback', by, section: callback.section, before: text, after }, request);
  }
  return text;
}

async function ask(by: string, callback: SectionCallback, text: string, request: CallbacksRequest): Promise<string> {
  const { clock, signal, session, logger } = request;
  try {
    const deadline = { clock, signal, timeoutMs: CALLBACK_TIMEOUT_MS };
    const answer: unknown = await withDeadline(deadline, (stopped) => callback.transform(text, stopped));
    return typeof answer === 'string' ? answer : text;
  } catch (error) {
    const { section } = callback;
    logger.log('debug', 'a prompt callback failed; the text stays', { session, by, section, error: String(error) });
    return text;
  }
}

export interface Change {
  readonly stage: 'rules' | 'static' | 'session' | 'callback' | 'client';
  /** The extension or the client that made the change. */
  readonly by: string;
  readonly section: string;
  readonly before: string;
  readonly after: string;
}

/** Logs changes. */
export interface ChangeLog {
  readonly session: string;
  readonly logger: Logger;
}

/** The text of a section after a change. */
function applied(change: Change, log: ChangeLog): string {
  const { before, after } = change;
  if (after === before) return before;
  if (after.length > PROMPT_SECTION_MAX_CHARACTERS && after.length > before.length) {
    logLeftOut(change, log);
    return before;
  }
  logChange(change, log);
  return after;
}

export function logChange({ stage, by, section, before, after }: Change, { session, logger }: ChangeLog): void {
  if (!isHeard(logger, 'debug')) return;
  logger.log('debug', 'prompt transform', { session, stage, by, section, before: hash(before), after: hash(after) });
}

function logLeftOut({ stage, by, section, after }: Change, { session, logger }: ChangeLog): void {
  const [characters, allowed] = [after.length, PROMPT_SECTION_MAX_CHARACTERS];
  const fields = { session, stage, by, section, characters, allowed };
  logger.log('warn', 'prompt text left out: the section is too large', fields);
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
