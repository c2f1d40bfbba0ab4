/** What the offline agent says about itself. Short, friendly, true. */
import path from 'node:path';
import { codeBlock } from './markdown.js';

const COMMANDS = codeBlock(
  [
    'list                what is in this folder',
    'read README.md      a file',
    'find TODO           a text in all files',
    'git status          what changed',
    '$ npm test          a command; you approve it first',
    'use list_files {}   any tool, by its name',
    'ask me something    a question with choices',
    'show the prompt     what a model would be told',
    'connect a model     how to get a real agent',
  ].join('\n'),
);

/** Paragraphs, each written as lines that fit on a screen of code. */
function paragraphs(...parts: readonly (string | readonly string[])[]): string {
  return `${parts.map((part) => (typeof part === 'string' ? part : part.join(' '))).join('\n\n')}\n`;
}

export function hello(workingDirectory: string | undefined): string {
  const place = workingDirectory
    ? `We are in the folder **${path.basename(workingDirectory) || workingDirectory}**.`
    : 'This session has no folder, so the file tools will say so.';
  return paragraphs(
    [
      "Hello! I am Atrium's **offline agent**. There is no model behind me, but the session, the tools and the",
      `approvals are real. ${place}`,
    ],
    'Type one of these, or say it in your own words:',
    COMMANDS,
  );
}

export const HELP = paragraphs(
  'This is what I understand. Plain sentences work too: *"show me the files here"*, *"what changed?"*.',
  COMMANDS,
  'Everything that happens here is seen by every client of this session, at the same time.',
);

export const ABOUT = paragraphs(
  [
    "I am Atrium's offline agent: **not an AI**, only a short table of phrases. I am here so that you can try",
    'sessions, tools, approvals and questions without a key.',
  ],
  'Say `help` for what I understand, or `connect a model` for what comes next.',
);

export const CONNECT = paragraphs(
  [
    'A model is one more agent to choose when you create a session; everything else you see here stays the same. The',
    'host finds a key of OpenAI or Anthropic in its environment, and agents such as Claude Code and Copilot where they',
    'are installed: `atrium agents` says what it found, and what is missing. See `docs/agents.md`.',
  ],
  [
    'If you build a client, you need none of them: a *scripted agent* plays any answer you write down, tools and questions',
    'included. See `docs/scripted-agent.md`.',
  ],
);

export const THANKS = paragraphs('You are welcome! Say `help` when you want to try something else.');

export const FALLBACK = paragraphs('That needs a model, and there is none behind me. These work right now:', COMMANDS);
