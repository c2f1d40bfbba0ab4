/** Answers that come from a real tool, run by the host like any other agent's tool calls. */

import type { AgentTurn, ToolOutcome } from '../../core/contracts/agent.js';
import { untilAborted } from '../../core/util/waiting.js';
import { commandIn, fileIn, folderIn, searchIn, toolIn } from './arguments.js';
import { code, codeBlock, languageOf, preview } from './markdown.js';
import type { Voice } from './voice.js';

export interface Talk {
  readonly turn: AgentTurn;
  readonly voice: Voice;
}

/** Answers a request; `rest` is what followed its verb. */
export type Answer = (rest: string, talk: Talk) => Promise<void>;

/** What an answer repeats of a command's output. */
export const COMMAND_OUTPUT_MAX_LINES = 60;

interface ToolUse {
  readonly tool: string;
  input(rest: string): Readonly<Record<string, unknown>>;
  /** What to say about the tool's output. */
  show(output: string, rest: string): string;
  /** What to say when it failed. */
  failed?(output: string): string;
}

export const list: Answer = answerWith({
  tool: 'list_files',
  input: (rest) => pathInput(folderIn(rest)),
  show(output, rest) {
    const folder = folderIn(rest);
    const file = firstFile(output);
    const next = file ? `Try ${code(`read ${folder ? `${folder.replace(/\/$/, '')}/` : ''}${file}`)}.` : '';
    return `In ${folder ? code(folder) : 'this folder'}:\n\n${shortened(output, 'text')}\n\n${next}\n`;
  },
});

export const read: Answer = answerWith({
  tool: 'read_file',
  input: (rest) => ({ path: fileIn(rest) }),
  show: (output, rest) => `${code(fileIn(rest))}:\n\n${shortened(output, languageOf(fileIn(rest)))}\n`,
});

export const search: Answer = answerWith({
  tool: 'search_files',
  input: (rest) => ({ ...searchIn(rest) }),
  show: (output) => (output.startsWith('Nothing found') ? `${output}\n` : `Found:\n\n${shortened(output, 'text')}\n`),
});

export const gitStatus: Answer = answerWith({
  tool: 'git_status',
  input: () => ({}),
  show: (output) => `Git says:\n\n${shortened(output, 'text')}\n`,
});

export const run: Answer = answerWith({
  tool: 'shell',
  input: (rest) => ({ command: commandIn(rest) }),
  show: (output) => `Done:\n\n${ending(output)}\n`,
  failed: (output) => `That did not end well:\n\n${ending(output)}\n`,
});

/** Any tool of the session, whoever lends it. */
export const use: Answer = async (rest, talk) => {
  const { name, input } = toolIn(rest);
  const names = talk.turn.tools().map((tool) => tool.name);
  if (!names.includes(name))
    return talk.voice.say(`There is no tool ${code(name)} here. There are: ${listed(names)}.\n`);
  if (!input) return talk.voice.say(`What follows ${code(name)} must be a JSON object, such as \`{"name": "you"}\`.\n`);
  const show = (output: string) => `${code(name)} says:\n\n${shortened(output, 'text')}\n`;
  const failed = (output: string) => `That did not work. ${output}\n`;
  return answerWith({ tool: name, input: () => input, show, failed })(rest, talk);
};

function listed(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.map(code).join(', ');
}

function answerWith({ tool, input, show, failed = failure }: ToolUse): Answer {
  return async (rest, { turn, voice }) => {
    const outcome = await untilAborted(turn.signal, turn.callTool({ name: tool, input: input(rest) }));
    await voice.say(sentenceFor(outcome, (output) => show(output, rest), failed));
  };
}

function sentenceFor(
  outcome: ToolOutcome,
  show: (output: string) => string,
  failed: (output: string) => string,
): string {
  if (outcome.kind === 'denied') return `All right, nothing was run: ${outcome.reason.replace(/\.$/, '')}.\n`;
  return outcome.success ? show(outcome.text) : failed(outcome.text);
}

function failure(output: string): string {
  return `That did not work. ${output}\n\nSay \`list\` to see what is here.\n`;
}

function pathInput(path: string | undefined): Readonly<Record<string, unknown>> {
  return path === undefined ? {} : { path };
}

function shortened(output: string, language: string): string {
  const { shown, more } = preview(output);
  const note = more > 0 ? `\n\n…and ${more} more ${more === 1 ? 'line' : 'lines'} in the tool's result.` : '';
  return codeBlock(shown, language) + note;
}

/** Of a command the end is what counts. What is left out is said: a first line that is missing looks like a fault. */
function ending(output: string): string {
  const lines = output.replace(/\n$/, '').split('\n');
  const more = lines.length - COMMAND_OUTPUT_MAX_LINES;
  if (more <= 0) return codeBlock(output);
  const note = `…after ${more} earlier ${more === 1 ? 'line' : 'lines'} in the tool's result:\n\n`;
  return note + codeBlock(lines.slice(-COMMAND_OUTPUT_MAX_LINES).join('\n'));
}

/** The name of a file in a listing, to have something to open. */
function firstFile(listing: string): string | undefined {
  const names = [...listing.matchAll(/^(\S+) {2}[\d.]+ \w+$/gm)].map((match) => match[1]);
  const preferred = [/^readme\.\w+$/i, /\.md$/, /^[^.]/];
  return preferred.flatMap((pattern) => names.find((name) => pattern.test(name ?? '')) ?? [])[0];
}
