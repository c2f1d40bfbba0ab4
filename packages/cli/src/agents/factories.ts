/** The one place where the kinds of agents meet the code that runs them. */
import { type AgentFactories, modelAgent } from '@atrium/host';

export const FACTORIES: AgentFactories = { model: modelAgent };
