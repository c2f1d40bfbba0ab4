/** The system prompt for one request to the model: its pristine text as of now, rendered by the host, as one text. */
import { CUSTOM_INSTRUCTIONS, joined, promptText, type Sections } from '../../prompt/sections.js';
import type { AgentTurn } from '../agent.js';
import { environmentText } from './environment.js';
import { projectInstructions } from './project-instructions.js';
import { MODEL_SECTIONS } from './sections.js';

export async function systemPrompt(turn: AgentTurn): Promise<string> {
  return promptText(await turn.renderPrompt(await pristineSections(turn)));
}

/** What depends on the session is part of the text from the beginning: whoever shapes the prompt sees all of it. */
async function pristineSections({ workingDirectory, signal }: AgentTurn): Promise<Sections> {
  const sections = new Map<string, string>(Object.entries(MODEL_SECTIONS));
  const extend = (id: string, text: string) => sections.set(id, joined([sections.get(id) ?? '', text]));
  extend('environment_context', await environmentText(workingDirectory));
  extend(CUSTOM_INSTRUCTIONS, await projectInstructions(workingDirectory, signal));
  return sections;
}
