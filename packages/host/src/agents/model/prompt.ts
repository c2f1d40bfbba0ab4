/** The system prompt for one request to the model: its pristine text as of now, rendered by the host, as one text. */

import type { AgentTurn } from '../../core/contracts/agent.js';
import { joined, promptText, type Sections } from '../../core/prompt/sections.js';
import { environmentText } from './environment.js';
import { projectInstructions } from './project-instructions.js';
import { MODEL_SECTIONS } from './sections.js';

export async function systemPrompt(turn: AgentTurn): Promise<string> {
  const { workingDirectory, signal } = turn;
  const instructions = await projectInstructions(workingDirectory, signal);
  return promptText(await turn.renderPrompt(await pristineSections(workingDirectory), instructions));
}

/** What depends on the folder is part of the text from the beginning: whoever shapes the prompt sees all of it. */
async function pristineSections(folder: string | undefined): Promise<Sections> {
  const { environment_context } = MODEL_SECTIONS;
  const environment = joined([environment_context, await environmentText(folder)]);
  return new Map(Object.entries({ ...MODEL_SECTIONS, environment_context: environment }));
}
