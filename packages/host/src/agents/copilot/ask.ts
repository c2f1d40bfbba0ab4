/** Copilot's own way to ask a person, put to them like the host's. */

import type { AgentTurn } from '../../core/contracts/agent.js';
import { askUserTool } from '../../workspace/tools/ask-user.js';
import type { UserQuestion } from './sdk.js';

export async function answerTo(turn: AgentTurn, { question, choices = [] }: UserQuestion): Promise<string> {
  const { signal } = turn;
  const context = { cwd: undefined, signal, progress: () => {}, ask: turn.ask.bind(turn) };
  const { content, error } = await askUserTool.run({ question, options: [...choices] }, context);
  const texts = content.flatMap((block) => (block.type === 'text' ? block.text : []));
  return error?.message ?? texts.join('\n');
}
