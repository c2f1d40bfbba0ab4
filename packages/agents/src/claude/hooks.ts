/**
 * The points at which Claude asks the host: before and after each call of its own tools, for permission, and with
 * questions.
 */
import { setImmediate } from 'node:timers/promises';
import type { AgentTurn, Permit } from '@atrium/core/contracts/agent.js';
import { isRecord } from '@atrium/core/util/shape.js';
import type { ChatInputAnswer, ChatInputQuestion } from '@atrium/protocol/ahp-1';
import type { Steering } from './prompt.js';
import type { CanUseTool, Hook, HookInput, HookMatcher, HookOutput, PermissionResult } from './sdk.js';
import type { SubAgents } from './sub-agents.js';
import { ANSWER_MAX_SECONDS, ASK_TOOL, HOST_TOOL_PREFIX, type OwnToolUse, resultText } from './tools.js';

interface HookContext {
  readonly agents: SubAgents;
  readonly steering: Steering;
  /** Text that only the model reads, beside the message. */
  readonly context: string;
}

/** The hooks for Claude. A hook that fails before a call stops the call. */
export function hooksOf(context: HookContext): Readonly<Record<string, readonly HookMatcher[]>> {
  const matcher = (hook: Hook, onFailure: HookMatcher['onFailure']) => [
    { hooks: [hook], timeout: ANSWER_MAX_SECONDS, onFailure },
  ];
  return {
    UserPromptSubmit: matcher(onceWith(context.context), 'continue'),
    PreToolUse: matcher((input) => beforeCall(context, input), 'block'),
    PostToolUse: matcher((input) => afterCall(context, 'PostToolUse', input), 'continue'),
    PostToolUseFailure: matcher((input) => afterCall(context, 'PostToolUseFailure', input), 'continue'),
  };
}

/** Adds the context to the first message of a turn. */
function onceWith(context: string): Hook {
  let hasContext = context === '';
  return async () => {
    if (hasContext) return {};
    hasContext = true;
    return { hookSpecificOutput: { hookEventName: 'UserPromptSubmit', additionalContext: context } };
  };
}

/** Asks the gates. "No objection" is not permission: Claude's own rules and people still decide. */
async function beforeCall({ agents }: HookContext, input: HookInput): Promise<HookOutput> {
  const use = await ownUse(input);
  if (!use) return {};
  const calls = await agents.of(use.id, input.agent_id);
  const permit = await calls.check(use);
  const about = { hookEventName: 'PreToolUse' };
  if (permit.kind === 'denied') {
    const denial = { permissionDecision: 'deny' as const, permissionDecisionReason: permit.reason };
    return { hookSpecificOutput: { ...about, ...denial } };
  }
  const updatedInput = changedInput(permit, use.input);
  return updatedInput ? { hookSpecificOutput: { ...about, updatedInput } } : {};
}

async function afterCall(
  { agents, steering }: HookContext,
  hookEventName: string,
  input: HookInput,
): Promise<HookOutput> {
  const use = await ownUse(input);
  if (!use) return {};
  const { error, tool_response } = input;
  const calls = await agents.of(use.id, input.agent_id);
  const notes = await calls.complete(use, error ?? resultText(tool_response), error === undefined);
  await steering.afterTool();
  return notes === undefined ? {} : { hookSpecificOutput: { hookEventName, additionalContext: notes } };
}

/** Answers permission requests. The host's tools are allowed at once, because the host itself asks about those. */
export function permissionsOf({ agents }: HookContext): CanUseTool {
  return async (tool, input, { toolUseID: id, agentID }) => {
    if (tool.startsWith(HOST_TOOL_PREFIX)) return { behavior: 'allow', updatedInput: input };
    const calls = await agents.of(id, agentID);
    if (tool === ASK_TOOL) return askPerson(calls.turn, input);
    const permit = await calls.confirm({ id, tool, input });
    if (permit.kind === 'denied') return { behavior: 'deny', message: `The call was denied: ${permit.reason}` };
    return { behavior: 'allow', updatedInput: changedInput(permit, input) ?? input };
  };
}

/**
 * The call that a hook is about, if it is of one of Claude's own tools. Hooks arrive before the events that precede
 * them, so those are handled first.
 */
async function ownUse({ tool_use_id: id, tool_name: tool, tool_input: input }: HookInput) {
  await setImmediate();
  if (id === undefined || tool === undefined || tool.startsWith(HOST_TOOL_PREFIX)) return undefined;
  return { id, tool, input } satisfies OwnToolUse;
}

/** The input as a person changed it; undefined when nobody did. */
function changedInput(permit: Extract<Permit, { kind: 'granted' }>, input: unknown) {
  if (!isRecord(permit.input) || JSON.stringify(permit.input) === JSON.stringify(input)) return undefined;
  return permit.input;
}

interface Question {
  readonly text: string;
  readonly title: string | undefined;
  readonly options: readonly Option[];
  readonly several: boolean;
}

interface Option {
  readonly label: string;
  readonly description: string | undefined;
}

/** Asks a person the questions of Claude's tool, and returns the answers in the tool's form. */
async function askPerson(turn: AgentTurn, input: Record<string, unknown>): Promise<PermissionResult> {
  const questions = questionsIn(input);
  const message = questions.map(({ text }) => text).join('\n');
  const request = { id: `ask-${crypto.randomUUID()}`, message, questions: questions.map(requested) };
  const { response, answers } = await turn.ask(request);
  if (response !== 'accept') return { behavior: 'deny', message: 'The person did not want to answer. Go on without.' };
  const given = questions.map(({ text }, index) => [text, textOf(answers[String(index)])]);
  return { behavior: 'allow', updatedInput: { ...input, answers: Object.fromEntries(given) } };
}

/** Reads the questions. Claude has already checked the input against its own schema. */
function questionsIn({ questions }: Record<string, unknown>): Question[] {
  return (Array.isArray(questions) ? questions : []).filter(isRecord).map((question) => ({
    text: String(question.question),
    title: typeof question.header === 'string' ? question.header : undefined,
    options: (Array.isArray(question.options) ? question.options : []).filter(isRecord).map((option) => ({
      label: String(option.label),
      description: typeof option.description === 'string' ? option.description : undefined,
    })),
    several: question.multiSelect === true,
  }));
}

/** One question. The label is also the id, because Claude wants the label back. */
function requested({ text, title, options, several }: Question, index: number): ChatInputQuestion {
  return {
    id: String(index),
    message: text,
    ...(title !== undefined && { title }),
    kind: several ? 'multi-select' : 'single-select',
    options: options.map(({ label, description }) => ({ id: label, label, ...(description && { description }) })),
    allowFreeformInput: true,
    required: true,
  };
}

function textOf(answer: ChatInputAnswer | undefined): string {
  if (!answer) return '';
  if (answer.state === 'skipped') return (answer.freeformValues ?? []).join(', ');
  const { value } = answer;
  if (value.kind === 'selected') return [value.value, ...(value.freeformValues ?? [])].filter(Boolean).join(', ');
  if (value.kind === 'selected-many') return [...value.value, ...(value.freeformValues ?? [])].join(', ');
  return String(value.value);
}
