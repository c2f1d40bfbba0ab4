/**
 * Tools of extensions and of the active client, as Copilot sees them. They run through the broker, which asks gates and
 * people, so Copilot itself asks nobody about them.
 */
import type { ToolDefinition } from '@atrium/protocol';
import type { AgentTurn, BegunCall, ToolOutcome } from '../../core/contracts/agent.js';
import { untilAborted } from '../../core/util/waiting.js';
import { toolTable, wireName } from '../model/tool-table.js';
import { dataIn, textWith } from '../result-images.js';
import type { SdkToolResult } from './sdk.js';

/** By the name that goes to the model. */
export type HostTools = ReadonlyMap<string, ToolDefinition>;

const PREFIX = 'host_';

/** Copilot's own tools keep their names; one of the host's with such a name gets another. */
export function hostTools(definitions: readonly ToolDefinition[], builtins: ReadonlySet<string>): HostTools {
  const originals = new Map<ToolDefinition, ToolDefinition>();
  for (const tool of definitions) {
    const isTaken = builtins.has(wireName(tool.name));
    originals.set(isTaken ? { ...tool, name: `${PREFIX}${tool.name}` } : tool, tool);
  }
  const table = toolTable([...originals.keys()]);
  return new Map([...table].map(([name, tool]) => [name, originals.get(tool) ?? tool]));
}

/** The calls of such tools in one turn. */
export class HostCalls {
  readonly #turn: AgentTurn;
  readonly #tools: HostTools;
  readonly #begun = new Map<string, BegunCall>();

  constructor(turn: AgentTurn, tools: HostTools) {
    this.#turn = turn;
    this.#tools = tools;
  }

  has(name: string | undefined): boolean {
    return name !== undefined && this.#tools.has(name);
  }

  delta(toolCallId: string, name: string, text: string): void {
    this.#call(toolCallId, name).delta(text);
  }

  async run(toolCallId: string, name: string, input: unknown): Promise<SdkToolResult> {
    const call = this.#call(toolCallId, name);
    this.#begun.delete(toolCallId);
    return resultOf(await untilAborted(this.#turn.signal, call.run(input)));
  }

  /** Copilot could not even call it: the input was no JSON, say. */
  async ended(toolCallId: string, message: string): Promise<void> {
    const call = this.#begun.get(toolCallId);
    this.#begun.delete(toolCallId);
    await call?.fail(message);
  }

  #call(toolCallId: string, name: string): BegunCall {
    const begun = this.#begun.get(toolCallId) ?? this.#turn.beginCall({ name: this.#tools.get(name)?.name ?? name });
    this.#begun.set(toolCallId, begun);
    return begun;
  }
}

function resultOf(outcome: ToolOutcome): SdkToolResult {
  if (outcome.kind === 'denied') {
    return { textResultForLlm: `The call was denied: ${outcome.reason}`, resultType: 'failure' };
  }
  const { text, content, success } = outcome;
  const found = dataIn(content);
  const images = found.images.map(({ data, mediaType }) => ({ type: 'image' as const, data, mimeType: mediaType }));
  // The runtime drops images without a word where its model cannot see.
  const named = images.map(({ mimeType }) => `[${mimeType}, shown to you if you can see]`);
  return {
    textResultForLlm: [textWith(text, found), ...named].filter((line) => line !== '').join('\n'),
    resultType: success ? 'success' : 'failure',
    ...(images.length > 0 && { binaryResultsForLlm: images }),
  };
}
