/** The prompts of a server: reads their list, names them as commands, and asks the server to expand one. */
import { isRecord } from '@atrium/core/util/shape.js';
import { shorten } from '@atrium/core/util/text.js';
import type { ServerPrompt, ServerPromptArgument } from '@atrium/protocol/ahp-1';
import {
  MCP_PROMPT_ARGUMENTS_MAX,
  MCP_PROMPT_DESCRIPTION_MAX_CHARACTERS,
  MCP_PROMPT_NAME_MAX_CHARACTERS,
  MCP_PROMPTS_MAX,
  MCP_RESULT_MAX_BLOCKS,
  MCP_RESULT_TEXT_MAX_CHARACTERS,
  MCP_TOOL_PAGES_MAX,
} from './limits.js';
import type { Connection } from './mcp-connection.js';
import type { ServerName } from './tool-list.js';

/** A prompt with the name that its server uses. */
export interface McpPrompt extends ServerPrompt {
  readonly name: string;
}

/** Without duplicate commands. */
export async function readPrompts(connection: Connection, server: ServerName): Promise<readonly McpPrompt[]> {
  const prompts = new Map<string, McpPrompt>();
  let cursor: unknown;
  for (let page = 0; page < MCP_TOOL_PAGES_MAX && prompts.size < MCP_PROMPTS_MAX; page += 1) {
    const read = await connection.request('prompts/list', cursor === undefined ? {} : { cursor });
    for (const offer of Array.isArray(read.prompts) ? read.prompts : []) {
      const prompt = prompts.size < MCP_PROMPTS_MAX ? promptOf(offer, server) : undefined;
      if (prompt && !prompts.has(prompt.command)) prompts.set(prompt.command, prompt);
    }
    if (typeof read.nextCursor !== 'string' || read.nextCursor === cursor) break;
    cursor = read.nextCursor;
  }
  return [...prompts.values()];
}

function promptOf(offer: unknown, server: ServerName): McpPrompt | undefined {
  if (!isRecord(offer) || !isUsableName(offer.name)) return undefined;
  const { name, title, description, arguments: wanted } = offer;
  const about = [description, title].find((text): text is string => typeof text === 'string' && text.trim() !== '');
  const args = (Array.isArray(wanted) ? wanted : []).slice(0, MCP_PROMPT_ARGUMENTS_MAX).map(argumentOf);
  // A prompt with an argument that nobody can supply is useless.
  if (!args.every((each) => each !== undefined)) return undefined;
  return {
    name,
    command: promptCommand(server, name),
    ...(about !== undefined && { description: oneLine(about) }),
    ...(args.length > 0 && { arguments: args }),
  };
}

function argumentOf(wanted: unknown): ServerPromptArgument | undefined {
  if (!isRecord(wanted) || !isUsableName(wanted.name)) return undefined;
  const { name, description, required } = wanted;
  return {
    name,
    ...(typeof description === 'string' && description !== '' && { description: oneLine(description) }),
    ...(required === true && { required }),
  };
}

function isUsableName(name: unknown): name is string {
  return typeof name === 'string' && name !== '' && name.length <= MCP_PROMPT_NAME_MAX_CHARACTERS;
}

/** Strangers write descriptions, and lists show them on one line. */
function oneLine(text: string): string {
  return shorten(text.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim(), MCP_PROMPT_DESCRIPTION_MAX_CHARACTERS);
}

/**
 * `server:prompt`, preceded by the server's plugin. Has only characters that a command may have, and begins with a
 * letter.
 */
function promptCommand({ name, plugin }: ServerName, prompt: string): string {
  const parts = (plugin === undefined ? [name, prompt] : [plugin, name, prompt]).map((part) =>
    part.replace(/[^\p{L}\p{N}_.-]+/gu, '-'),
  );
  const command = parts.join(':');
  return /^\p{L}/u.test(command) ? command : `mcp-${command}`;
}

export type ReadArguments =
  | { readonly kind: 'given'; readonly values: Readonly<Record<string, string>> }
  /** The names of missing arguments. */
  | { readonly kind: 'missing'; readonly names: readonly string[] };

/**
 * `name=value` sets an argument by name; other words fill the rest in order, and the last argument takes all remaining
 * text.
 */
export function readArguments({ arguments: wanted = [] }: ServerPrompt, typed: string): ReadArguments {
  const values = new Map<string, string>();
  const words: { readonly text: string; readonly rest: string }[] = [];
  for (const match of typed.matchAll(/(?:([\p{L}\p{N}_.-]+)=)?(?:"([^"]*)"|'([^']*)'|(\S+))/gu)) {
    const [whole, name, double, single, plain] = match;
    const value = double ?? single ?? plain ?? '';
    const isNamed = name !== undefined && wanted.some((each) => each.name === name);
    if (isNamed && name !== undefined) values.set(name, value);
    else words.push({ text: name === undefined ? value : whole, rest: typed.slice(match.index) });
  }
  const open = wanted.filter(({ name }) => !values.has(name));
  open.forEach(({ name }, index) => {
    const word = words[index];
    const isLast = index === open.length - 1 && words.length > open.length;
    if (word) values.set(name, isLast ? word.rest.trim() : word.text);
  });
  const names = wanted.filter(({ name, required }) => required && !values.has(name)).map(({ name }) => name);
  return names.length > 0 ? { kind: 'missing', names } : { kind: 'given', values: Object.fromEntries(values) };
}

/** The text of a prompt, bounded. Other content is only named. */
export function promptText({ messages }: Readonly<Record<string, unknown>>): string {
  const blocks = (Array.isArray(messages) ? messages : []).slice(0, MCP_RESULT_MAX_BLOCKS).flatMap((message) => {
    if (!isRecord(message) || !isRecord(message.content)) return [];
    const text = contentText(message.content);
    return message.role === 'assistant' ? [`(An answer that the prompt gives beforehand:)\n${text}`] : [text];
  });
  const text = blocks.join('\n\n');
  return text.length <= MCP_RESULT_TEXT_MAX_CHARACTERS
    ? text
    : `${text.slice(0, MCP_RESULT_TEXT_MAX_CHARACTERS)}\n[Cut: too long.]`;
}

function contentText(content: Readonly<Record<string, unknown>>): string {
  if (content.type === 'text' && typeof content.text === 'string') return content.text;
  const { resource } = content;
  if (content.type === 'resource' && isRecord(resource) && typeof resource.text === 'string') return resource.text;
  if (content.type === 'resource_link' && typeof content.uri === 'string') return `[${shorten(content.uri, 200)}]`;
  return `[Left out: content of the kind ${shorten(String(content.type), 80)}.]`;
}
