/** The same agent, with an eye on when it stops. */
import type { AgentBackend, AgentSession } from '../../core/contracts/agent.js';

export function watchedAgent(agent: AgentBackend, began: (running: Promise<void>) => void): AgentBackend {
  const { info, abilities, sections } = agent;
  return { info, abilities, sections, open: async (context) => watchedSession(await agent.open(context), began) };
}

function watchedSession(session: AgentSession, began: (running: Promise<void>) => void): AgentSession {
  return {
    runTurn: (turn) => {
      const running = session.runTurn(turn);
      began(running);
      return running;
    },
    truncated: async (turnId) => session.truncated?.(turnId),
    close: () => session.close(),
  };
}
