/** Copilot's own way to ask a person, put to them like the host's. */
import type { AgentTurn } from '../../core/contracts/agent.js';
import { ToolFailure } from '../../core/contracts/tool.js';
import { askQuestion } from '../../core/util/ask-question.js';
import type { UserQuestion } from './sdk.js';

/** A question that the person does not answer is answered with the reason: the runtime has no other way to hear it. */
export async function answerTo(turn: AgentTurn, { question, choices = [] }: UserQuestion): Promise<string> {
  try {
    return await askQuestion((request) => turn.ask(request), { question, options: choices });
  } catch (error) {
    if (error instanceof ToolFailure) return error.message;
    if (turn.signal.aborted) return 'Cancelled before it was done.';
    throw error;
  }
}
