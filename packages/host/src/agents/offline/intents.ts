/** What the offline agent understands: a table, read from the top. The first line whose pattern fits answers. */
import { untilAborted } from '../../core/util/waiting.js';
import { codeBlock } from './markdown.js';
import { askSomething } from './question.js';
import { ABOUT, CONNECT, FALLBACK, HELP, hello, THANKS } from './texts.js';
import { type Answer, gitStatus, list, read, run, search, use } from './tool-answers.js';

export interface Intent {
  readonly name: string;
  /** Any of these; a group named `rest` is what the answer is about. */
  readonly patterns: readonly RegExp[];
  /** One line of reasoning. */
  readonly thought: string;
  readonly answer: Answer;
}

const say =
  (text: string): Answer =>
  (_rest, { voice }) =>
    voice.say(text);

const greet: Answer = (_rest, { turn, voice }) => voice.say(hello(turn.workingDirectory));

const showPrompt: Answer = async (_rest, { turn, voice }) => {
  const prompt = await untilAborted(turn.signal, turn.renderPrompt());
  const text = [...prompt].map(([id, content]) => `# ${id}\n${content}`).join('\n\n');
  await voice.say(`A model would be told this:\n\n${codeBlock(text)}\n`);
};

export const INTENTS: readonly Intent[] = [
  {
    name: 'run',
    patterns: [
      /^\$\s*(?<rest>.+)$/s,
      /^(?:run|execute|exec)\s+(?<rest>.+)$/is,
      /^(?<rest>(?:npm|npx|pnpm|yarn|cargo|echo|pwd|git (?!status))\b.*)$/is,
    ],
    thought: 'A command. It can do anything, so a person decides first.',
    answer: run,
  },
  {
    name: 'use',
    patterns: [/^(?:use|call)\s+(?<rest>\S+(?:\s+\{.*\})?)$/is],
    thought: 'A tool by its name. It gets just what they wrote.',
    answer: use,
  },
  {
    name: 'ask',
    patterns: [/\bask me\b/i, /^(?:a )?question[.!?]?$/i],
    thought: 'They want to be asked. Two questions will do.',
    answer: askSomething,
  },
  {
    name: 'git status',
    patterns: [
      /^(?:git )?status\b/i,
      /\bwhat\b.*\bchanged?\b/i,
      /^(?:show|see|list|any|my)?\b.*\bchanges\b/i,
      /^diff$/i,
    ],
    thought: 'What changed is a question for Git.',
    answer: gitStatus,
  },
  {
    name: 'prompt',
    patterns: [/^(?:show|print|see|what)\b.*\bprompt\b/i, /^(?:system )?prompt$/i],
    thought: 'I can show the prompt that this session renders.',
    answer: showPrompt,
  },
  {
    name: 'search',
    patterns: [
      /^search\b.*?\bfor\s+(?<rest>.+)$/i,
      /^(?:search|grep|find|look for)\s+(?<rest>.+)$/i,
      /^where (?:is|are)\s+(?<rest>.+?)(?:\s+(?:defined|used|mentioned))?[?.]*$/i,
    ],
    thought: 'I will look through all files for that text.',
    answer: search,
  },
  {
    name: 'read',
    patterns: [
      /^(?:read|open|cat|view|print)\s+(?<rest>.+)$/is,
      /^(?:show|display)(?: me)?(?: the)?(?: file)?\s+(?<rest>\S*\w[./]\w\S*)$/i,
      /^what(?:'s| is| does)\b.*?\s(?<rest>[\w./-]+\.\w+)\b/i,
    ],
    thought: 'That is a file; I will open it.',
    answer: read,
  },
  {
    name: 'list',
    patterns: [
      /^(?:ls|dir|list)\b(?<rest>.*)$/i,
      /^(?:show|see|what|which|give)\b.*?\b(?:files|folders?|director(?:y|ies))\b(?<rest>.*)$/i,
      /^(?:files|what(?:'s| is) (?:in )?here)\b/i,
    ],
    thought: 'I will look at what is in the folder.',
    answer: list,
  },
  {
    name: 'help',
    patterns: [/^(?:help|commands|\?|h)\b/i, /^\?$/, /\bwhat (?:can|do) (?:you|i)\b/i, /^how (?:does|do)\b.*\bwork\b/i],
    thought: 'They would like to know what I understand.',
    answer: say(HELP),
  },
  {
    name: 'connect',
    patterns: [/\b(?:connect|model|models|llm|api key|key|gpt|claude|copilot|gemini|ollama|openai|anthropic)\b/i],
    thought: 'This is about models. I should be honest about what is there.',
    answer: say(CONNECT),
  },
  {
    name: 'about',
    patterns: [/\b(?:who|what) are you\b/i, /\bare you (?:an? )?(?:real|ai|human|bot|robot)\b/i, /^about\b/i],
    thought: 'They ask who I am.',
    answer: say(ABOUT),
  },
  {
    name: 'hello',
    patterns: [/^(?:hi|hello|hey|hallo|good (?:morning|afternoon|evening|day))\b/i, /^(?:start|begin|demo)\b/i, /^$/],
    thought: 'A greeting. Time to introduce myself.',
    answer: greet,
  },
  {
    name: 'thanks',
    patterns: [/^(?:thanks|thank you|thx|great|nice|cool|bye|goodbye)\b/i],
    thought: 'They sound content.',
    answer: say(THANKS),
  },
];

export const NOTHING_FITS: Intent = {
  name: 'nothing fits',
  patterns: [],
  thought: 'None of my phrases fits. I should say so.',
  answer: say(FALLBACK),
};

const POLITE_START =
  /^(?:(?:please|can you|could you|would you|will you|let's|i want to|i'd like to|help me)[,\s]+)+(?=\S)/i;
const POLITE_END = /[,\s]+(?:please|thanks|thank you)[.!]*$/i;

/** The intent of a message, and what it is about. */
export function understand(message: string): { intent: Intent; rest: string } {
  const trimmed = message.trim();
  // A command is not a sentence: it stays as it was written.
  const text = trimmed.startsWith('$') ? trimmed : trimmed.replace(POLITE_START, '').replace(POLITE_END, '');
  for (const intent of INTENTS) {
    const match = intent.patterns.map((pattern) => pattern.exec(text)).find((found) => found !== null);
    if (match) return { intent, rest: match.groups?.rest ?? '' };
  }
  return { intent: NOTHING_FITS, rest: text };
}
