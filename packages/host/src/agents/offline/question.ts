/** "Ask me something": shows how an agent puts questions to a person, and does what was chosen. */
import type { SessionInputRequest } from '@atrium/protocol';
import type { InputOutcome } from '../../core/contracts/agent.js';
import { untilAborted } from '../../core/util/waiting.js';
import { type Answer, gitStatus, list } from './tool-answers.js';

const CHOICES: Readonly<Record<string, { readonly label: string; readonly answer?: Answer }>> = {
  files: { label: 'Show me the files here', answer: list },
  changes: { label: 'Show me what changed', answer: gitStatus },
  nothing: { label: 'Nothing, thank you' },
};

function requestFor(turnId: string): SessionInputRequest {
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

export const askSomething: Answer = async (_rest, talk) => {
  const { turn, voice } = talk;
  const outcome = await untilAborted(turn.signal, turn.ask(requestFor(turn.id)));
  if (outcome.response !== 'accept') return voice.say('No answer is fine, too. Ask me again whenever you like.\n');
  const choice = CHOICES[answerTo('next', outcome) ?? 'nothing'];
  await voice.say(`${greeting(answerTo('name', outcome))} ${choice?.answer ? 'Here you are.' : 'Nothing it is.'}\n`);
  await choice?.answer?.('', talk);
};

function greeting(name: string | undefined): string {
  return name ? `Nice to meet you, **${name}**!` : 'Thank you!';
}

/** What was said or chosen, if anything. */
function answerTo(question: string, { answers }: InputOutcome): string | undefined {
  const answer = answers[question];
  if (!answer || answer.state === 'skipped') return undefined;
  return typeof answer.value.value === 'string' ? answer.value.value.trim() : undefined;
}
