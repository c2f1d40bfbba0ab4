/** What a session's agent keeps to find it again: beside the session in the log, and never in its state. */
import { AGENT_MEMORY_MAX_CHARACTERS, type AgentMemory } from '../contracts/agent.js';
import type { SessionNotes } from './session-notes.js';

export async function agentMemory(uri: string, notes: SessionNotes): Promise<AgentMemory> {
  let kept = await notes.agentMemory(uri);
  return {
    get: () => (kept === undefined ? undefined : JSON.parse(kept)),
    set: (value) => {
      const text: string | undefined = JSON.stringify(value);
      const size = text?.length ?? 0;
      if (size > AGENT_MEMORY_MAX_CHARACTERS) {
        throw new RangeError(`an agent may keep ${AGENT_MEMORY_MAX_CHARACTERS} characters, not ${size}: keep an id`);
      }
      if (text === kept) return;
      kept = text;
      notes.setAgentMemory(uri, text);
    },
  };
}
