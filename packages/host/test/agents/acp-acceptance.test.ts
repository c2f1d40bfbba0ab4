import { describe, expect, it } from 'vitest';
import { agentAcceptance } from '../../src/agent-acceptance/suite.js';
import { acpSubject } from '../support/acp-subject.js';

agentAcceptance({ describe, it, expect }, '[UNI-086] [UNI-110] an agent behind ACP', (plan) => acpSubject(plan), {
  timeScale: 4,
});

agentAcceptance(
  { describe, it, expect },
  '[UNI-110] an agent behind ACP that cannot load and prints garbage',
  (plan) => acpSubject(plan, ['cannot load', 'prints garbage']),
  { timeScale: 4 },
);
