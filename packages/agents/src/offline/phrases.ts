/** What the offline agent understands and answers: a table of phrases, each with the steps that it plays. */

import type { AgentTurn, InputOutcome } from '@atrium/core/contracts/agent.js';
import { count } from '@atrium/core/util/text.js';
import { untilAborted } from '@atrium/core/util/waiting.js';
import type { ChatInputRequest } from '@atrium/protocol/ahp-1';
import type { Step } from '../scripted/script.js';
import {
  ABOUT,
  CONNECT,
  code,
  codeBlock,
  commandIn,
  FALLBACK,
  fileIn,
  folderIn,
  HELP,
  hello,
  languageOf,
  preview,
  searchIn,
  THANKS,
  toolIn,
} from './text.js';

/** How many lines of a command's output an answer repeats. */
const COMMAND_OUTPUT_MAX_LINES = 60;

/** The steps of an answer; `rest` is the text after the verb. */
type Answer = (rest: string, turn: AgentTurn) => AsyncIterable<Step>;

interface Phrase {
  readonly name: string;
  /** One line of reasoning. */
  readonly thought: string;
  /** Any of these may match; the group `rest` says what the answer is about. */
  readonly patterns: readonly RegExp[];
  /** A text, or steps. */
  readonly answer: string | Answer;
}

function say(markdown: string): Step {
  return { text: markdown, chunk: 'words' };
}

const greet: Answer = async function* (_rest, { workingDirectory }) {
  yield say(hello(workingDirectory));
};

interface ToolAnswer {
  readonly tool: string;
  input(rest: string): Readonly<Record<string, unknown>>;
  show(output: string, rest: string): string;
  failed?(output: string): string;
}

/** Runs a real tool of the host, and says what came out. */
function using({ tool: name, input, show, failed = failure }: ToolAnswer): Answer {
  return async function* (rest, turn) {
    const outcome = await untilAborted(turn.signal, turn.callTool({ name, input: input(rest) }));
    if (outcome.kind === 'denied') yield say(`All right, nothing was run: ${outcome.reason.replace(/\.$/, '')}.\n`);
    else yield say(outcome.success ? show(outcome.text, rest) : failed(outcome.text));
  };
}

function failure(output: string): string {
  return `That did not work. ${output}\n\nSay \`list\` to see what is here.\n`;
}

const list = using({
  tool: 'list_files',
  input: (rest) => {
    const path = folderIn(rest);
    return path === undefined ? {} : { path };
  },
  show(output, rest) {
    const folder = folderIn(rest);
    const file = firstFile(output);
    const next = file ? `Try ${code(`read ${folder ? `${folder.replace(/\/$/, '')}/` : ''}${file}`)}.` : '';
    return `In ${folder ? code(folder) : 'this folder'}:\n\n${beginning(output)}\n\n${next}\n`;
  },
});

const read = using({
  tool: 'read_file',
  input: (rest) => ({ path: fileIn(rest) }),
  show: (output, rest) => `${code(fileIn(rest))}:\n\n${beginning(output, languageOf(fileIn(rest)))}\n`,
});

const search = using({
  tool: 'search_files',
  input: (rest) => ({ ...searchIn(rest) }),
  show: (output) => (output.startsWith('Nothing found') ? `${output}\n` : `Found:\n\n${beginning(output)}\n`),
});

const gitStatus = using({
  tool: 'git_status',
  input: () => ({}),
  show: (output) => `Git says:\n\n${beginning(output)}\n`,
});

const run = using({
  tool: 'shell',
  input: (rest) => ({ command: commandIn(rest) }),
  show: (output) => `Done:\n\n${ending(output)}\n`,
  failed: (output) => `That did not end well:\n\n${ending(output)}\n`,
});

/** Runs any tool of the session by its name. */
const use: Answer = async function* (rest, turn) {
  const { name, input } = toolIn(rest);
  const names = turn.tools().map((tool) => tool.name);
  const known = names.length === 0 ? 'none' : names.map(code).join(', ');
  if (!names.includes(name)) return yield say(`There is no tool ${code(name)} here. There are: ${known}.\n`);
  if (!input) return yield say(`What follows ${code(name)} must be a JSON object, such as \`{"name": "you"}\`.\n`);
  const show = (output: string) => `${code(name)} says:\n\n${beginning(output)}\n`;
  const failed = (output: string) => `That did not work. ${output}\n`;
  yield* using({ tool: name, input: () => input, show, failed })(rest, turn);
};

const showPrompt: Answer = async function* (_rest, turn) {
  const prompt = await untilAborted(turn.signal, turn.renderPrompt());
  const text = [...prompt].map(([id, content]) => `# ${id}\n${content}`).join('\n\n');
  yield say(`A model would be told this:\n\n${codeBlock(text)}\n`);
};

const CHOICES: Readonly<Record<string, { readonly label: string; readonly answer?: Answer }>> = {
  files: { label: 'Show me the files here', answer: list },
  changes: { label: 'Show me what changed', answer: gitStatus },
  nothing: { label: 'Nothing, thank you' },
};

const askSomething: Answer = async function* (_rest, turn) {
  const outcome = await untilAborted(turn.signal, turn.ask(questionFor(turn.id)));
  if (outcome.response !== 'accept') return yield say('No answer is fine, too. Ask me again whenever you like.\n');
  const choice = CHOICES[givenTo('next', outcome) ?? 'nothing'];
  const name = givenTo('name', outcome);
  const greeting = name ? `Nice to meet you, **${name}**!` : 'Thank you!';
  yield say(`${greeting} ${choice?.answer ? 'Here you are.' : 'Nothing it is.'}\n`);
  if (choice?.answer) yield* choice.answer('', turn);
};

function questionFor(turnId: string): ChatInputRequest {
  const options = Object.entries(CHOICES).map(([id, { label }]) => ({ id, label }));
  return {
    id: `${turnId}-question`,
    message: 'Two short questions.',
    questions: [
      { kind: 'single-select', id: 'next', message: 'What shall I do next?', options, required: true },
      { kind: 'text', id: 'name', message: 'And what shall I call you?', required: false },
    ],
  };
}

function givenTo(question: string, { answers }: InputOutcome): string | undefined {
  const answer = answers[question];
  if (!answer || answer.state === 'skipped') return undefined;
  return typeof answer.value.value === 'string' ? answer.value.value.trim() : undefined;
}

/** The first pattern that matches counts. */
const PHRASES: readonly Phrase[] = [
  {
    name: 'run',
    thought: 'A command. It can do anything, so a person decides first.',
    patterns: [
      /^\$\s*(?<rest>.+)$/s,
      /^(?:run|execute|exec)\s+(?<rest>.+)$/is,
      /^(?<rest>(?:npm|npx|pnpm|yarn|cargo|echo|pwd|git (?!status))\b.*)$/is,
    ],
    answer: run,
  },
  {
    name: 'use',
    thought: 'A tool by its name. It gets just what they wrote.',
    patterns: [/^(?:use|call)\s+(?<rest>\S+(?:\s+\{.*\})?)$/is],
    answer: use,
  },
  {
    name: 'ask',
    thought: 'They want to be asked. Two questions will do.',
    patterns: [/\bask me\b/i, /^(?:a )?question[.!?]?$/i],
    answer: askSomething,
  },
  {
    name: 'git status',
    thought: 'What changed is a question for Git.',
    patterns: [
      /^(?:git )?status\b/i,
      /\bwhat\b.*\bchanged?\b/i,
      /^(?:show|see|list|any|my)?\b.*\bchanges\b/i,
      /^diff$/i,
    ],
    answer: gitStatus,
  },
  {
    name: 'prompt',
    thought: 'I can show the prompt that this session renders.',
    patterns: [/^(?:show|print|see|what)\b.*\bprompt\b/i, /^(?:system )?prompt$/i],
    answer: showPrompt,
  },
  {
    name: 'search',
    thought: 'I will look through all files for that text.',
    patterns: [
      /^search\b.*?\bfor\s+(?<rest>.+)$/i,
      /^(?:search|grep|find|look for)\s+(?<rest>.+)$/i,
      /^where (?:is|are)\s+(?<rest>.+?)(?:\s+(?:defined|used|mentioned))?[?.]*$/i,
    ],
    answer: search,
  },
  {
    name: 'read',
    thought: 'That is a file; I will open it.',
    patterns: [
      /^(?:read|open|cat|view|print)\s+(?<rest>.+)$/is,
      /^(?:show|display)(?: me)?(?: the)?(?: file)?\s+(?<rest>\S*\w[./]\w\S*)$/i,
      /^what(?:'s| is| does)\b.*?\s(?<rest>[\w./-]+\.\w+)\b/i,
    ],
    answer: read,
  },
  {
    name: 'list',
    thought: 'I will look at what is in the folder.',
    patterns: [
      /^(?:ls|dir|list)\b(?<rest>.*)$/i,
      /^(?:show|see|what|which|give)\b.*?\b(?:files|folders?|director(?:y|ies))\b(?<rest>.*)$/i,
      /^(?:files|what(?:'s| is) (?:in )?here)\b/i,
    ],
    answer: list,
  },
  {
    name: 'help',
    thought: 'They would like to know what I understand.',
    patterns: [/^(?:help|commands|\?|h)\b/i, /^\?$/, /\bwhat (?:can|do) (?:you|i)\b/i, /^how (?:does|do)\b.*\bwork\b/i],
    answer: HELP,
  },
  {
    name: 'connect',
    thought: 'This is about models. I should be honest about what is there.',
    patterns: [/\b(?:connect|model|models|llm|api key|key|gpt|claude|copilot|gemini|ollama|openai|anthropic)\b/i],
    answer: CONNECT,
  },
  {
    name: 'about',
    thought: 'They ask who I am.',
    patterns: [/\b(?:who|what) are you\b/i, /\bare you (?:an? )?(?:real|ai|human|bot|robot)\b/i, /^about\b/i],
    answer: ABOUT,
  },
  {
    name: 'hello',
    thought: 'A greeting. Time to introduce myself.',
    patterns: [/^(?:hi|hello|hey|hallo|good (?:morning|afternoon|evening|day))\b/i, /^(?:start|begin|demo)\b/i, /^$/],
    answer: greet,
  },
  {
    name: 'thanks',
    thought: 'They sound content.',
    patterns: [/^(?:thanks|thank you|thx|great|nice|cool|bye|goodbye)\b/i],
    answer: THANKS,
  },
];

const NOTHING_FITS: Phrase = {
  name: 'nothing fits',
  thought: 'None of my phrases fits. I should say so.',
  patterns: [],
  answer: FALLBACK,
};

const POLITE_START =
  /^(?:(?:please|can you|could you|would you|will you|let's|i want to|i'd like to|help me)[,\s]+)+(?=\S)/i;
const POLITE_END = /[,\s]+(?:please|thanks|thank you)[.!]*$/i;

/** The steps that answer a message: a line of reasoning, then the answer. */
export async function* answerTo(message: string, turn: AgentTurn): AsyncGenerator<Step> {
  const { phrase, rest } = understand(message);
  yield { reasoning: phrase.thought };
  if (typeof phrase.answer === 'string') yield say(phrase.answer);
  else yield* phrase.answer(rest, turn);
}

/** Finds the phrase that a message matches, and what it is about. */
export function understand(message: string): { phrase: Phrase; rest: string } {
  const trimmed = message.trim();
  // A command is not a sentence: it stays as it was written.
  const text = trimmed.startsWith('$') ? trimmed : trimmed.replace(POLITE_START, '').replace(POLITE_END, '');
  for (const phrase of PHRASES) {
    const match = phrase.patterns.map((pattern) => pattern.exec(text)).find((found) => found !== null);
    if (match) return { phrase, rest: match.groups?.rest ?? '' };
  }
  return { phrase: NOTHING_FITS, rest: text };
}

function beginning(output: string, language = 'text'): string {
  const { shown, more } = preview(output);
  const note = more > 0 ? `\n\n…and ${count(more, 'more line')} in the tool's result.` : '';
  return codeBlock(shown, language) + note;
}

/** The end of a command's output. Says how much is left out, because a missing first line looks like a fault. */
function ending(output: string): string {
  const lines = output.replace(/\n$/, '').split('\n');
  const more = lines.length - COMMAND_OUTPUT_MAX_LINES;
  if (more <= 0) return codeBlock(output);
  const note = `…after ${count(more, 'earlier line')} in the tool's result:\n\n`;
  return note + codeBlock(lines.slice(-COMMAND_OUTPUT_MAX_LINES).join('\n'));
}

/** Finds a file in a listing, to suggest opening it. */
function firstFile(listing: string): string | undefined {
  const names = [...listing.matchAll(/^(\S+) {2}[\d.]+ \w+$/gm)].map((match) => match[1]);
  const preferred = [/^readme\.\w+$/i, /\.md$/, /^[^.]/];
  return preferred.flatMap((pattern) => names.find((name) => pattern.test(name ?? '')) ?? [])[0];
}
