/**
 * What every agent backend promises, as tests through a real host. Whoever writes a backend runs this suite against it:
 * `agentAcceptance({ describe, it, expect }, 'my agent', makeMyAgent)`. The test runner comes in as an argument.
 *
 * `makeMyAgent` gets a plan, which is what is to be thought, and gives back a fresh agent whose model follows it; on slow
 * ground (a process per agent) pass `{ timeScale: 4 }`. What an agent declares in its abilities is tested, no more.
 */
import { cancelAcceptance } from './acceptance/cancel.js';
import { errorAcceptance } from './acceptance/errors.js';
import { gateAcceptance } from './acceptance/gates.js';
import { processAcceptance } from './acceptance/processes.js';
import { renderAcceptance } from './acceptance/render.js';
import { resumeAcceptance } from './acceptance/resume.js';
import { steerAcceptance } from './acceptance/steer.js';
import { streamingAcceptance } from './acceptance/streaming.js';
import type { AcceptanceOptions, MakeAgent } from './acceptance/subject.js';
import { type AcceptanceApi, suiteOf } from './acceptance/suite.js';
import { toolCallAcceptance } from './acceptance/tool-calls.js';
import { usageAcceptance } from './acceptance/usage.js';

export { PLANNED_FAILURES, type PlannedAnswer, type PlannedFailure } from './acceptance/plan.js';
export type { AcceptanceOptions, AgentUnderTest, MakeAgent } from './acceptance/subject.js';
export type { AcceptanceApi } from './acceptance/suite.js';

export function agentAcceptance(
  api: AcceptanceApi,
  name: string,
  make: MakeAgent,
  options: AcceptanceOptions = {},
): void {
  const suite = suiteOf(api, make, options);
  api.describe(`${name} is an agent`, () => {
    streamingAcceptance(suite);
    toolCallAcceptance(suite);
    gateAcceptance(suite);
    cancelAcceptance(suite);
    errorAcceptance(suite);
    usageAcceptance(suite);
    steerAcceptance(suite);
    resumeAcceptance(suite);
    renderAcceptance(suite);
    processAcceptance(suite);
  });
}
