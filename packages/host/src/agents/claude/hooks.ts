/** Where Claude asks the host: before and after every call of its own tools, and when it takes up a message. */
import { setImmediate } from 'node:timers/promises';
import type { AgentTurn, Permit } from '../../core/contracts/agent.js';
import { isRecord } from '../../core/util/shape.js';
import type { Calls, OwnToolUse } from './calls.js';
import { HOST_TOOL_PREFIX } from './host-tools.js';
import { ANSWER_MAX_SECONDS } from './limits.js';
import { ASK_TOOL, askPerson } from './questions.js';
import type { CanUseTool, Hook, HookInput, HookMatcher, HookOutput } from './sdk.js';
import type { Steering } from './steering.js';
import { resultText } from './tool-words.js';

export interface HookParts {
  readonly turn: AgentTurn;
  readonly calls: Calls;
  readonly steering: Steering;
  /** What the model is to know beside the message. */
  readonly context: string;
}

/** A hook that fails before a call stops the call. */
export function hooksOf(parts: HookParts): Readonly<Record<string, readonly HookMatcher[]>> {
  const matcher = (hook: Hook, onFailure: HookMatcher['onFailure']) => [
    { hooks: [hook], timeout: ANSWER_MAX_SECONDS, onFailure },
  ];
  return {
    UserPromptSubmit: matcher(onceWith(parts.context), 'continue'),
    PreToolUse: matcher((input) => beforeCall(parts, input), 'block'),
    PostToolUse: matcher((input) => afterCall(parts, 'PostToolUse', input), 'continue'),
    PostToolUseFailure: matcher((input) => afterCall(parts, 'PostToolUseFailure', input), 'continue'),
  };
}

/** Only the first message of a turn has context; the others came later. */
function onceWith(context: string): Hook {
  let isTold = context === '';
  return async () => {
    if (isTold) return {};
    isTold = true;
    return { hookSpecificOutput: { hookEventName: 'UserPromptSubmit', additionalContext: context } };
  };
}

/** "No objection" is not a permission: Claude's own rules, and people, still have their say. */
async function beforeCall({ calls }: HookParts, input: HookInput): Promise<HookOutput> {
  const use = await ownUse(input);
  if (!use) return {};
  const permit = await calls.check(use);
  const about = { hookEventName: 'PreToolUse' };
  if (permit.kind === 'denied') {
    const denial = { permissionDecision: 'deny' as const, permissionDecisionReason: permit.reason };
    return { hookSpecificOutput: { ...about, ...denial } };
  }
  const updatedInput = changedInput(permit, use.input);
  return updatedInput ? { hookSpecificOutput: { ...about, updatedInput } } : {};
}

async function afterCall({ calls, steering }: HookParts, hookEventName: string, input: HookInput): Promise<HookOutput> {
  const use = await ownUse(input);
  if (!use) return {};
  const { error, tool_response } = input;
  const notes = await calls.complete(use, error ?? resultText(tool_response), error === undefined);
  await steering.afterTool();
  return notes === undefined ? {} : { hookSpecificOutput: { hookEventName, additionalContext: notes } };
}

/** The broker has its own way with the host's tools; asking here again would be asking twice. */
export function permissionsOf({ turn, calls }: HookParts): CanUseTool {
  return async (tool, input, { toolUseID: id }) => {
    if (tool.startsWith(HOST_TOOL_PREFIX)) return { behavior: 'allow', updatedInput: input };
    if (tool === ASK_TOOL) return askPerson(turn, input);
    const permit = await calls.confirm({ id, tool, input });
    if (permit.kind === 'denied') return { behavior: 'deny', message: `The call was denied: ${permit.reason}` };
    return { behavior: 'allow', updatedInput: changedInput(permit, input) ?? input };
  };
}

/** Hooks overtake what was said before them, so that is shown first. */
async function ownUse({ tool_use_id: id, tool_name: tool, tool_input: input }: HookInput) {
  await setImmediate();
  if (id === undefined || tool === undefined || tool.startsWith(HOST_TOOL_PREFIX)) return undefined;
  return { id, tool, input } satisfies OwnToolUse;
}

/** As a person left it, when they changed it. */
function changedInput(permit: Extract<Permit, { kind: 'granted' }>, input: unknown) {
  if (!isRecord(permit.input) || JSON.stringify(permit.input) === JSON.stringify(input)) return undefined;
  return permit.input;
}
