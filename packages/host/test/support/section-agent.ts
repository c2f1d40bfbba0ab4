/** An agent in the hands of the test whose prompt comes in sections, so that providers can change it. */
import { PRISTINE } from './prompts.js';
import { PuppetAgent } from './puppet-agent.js';

export class SectionAgent extends PuppetAgent {
  override readonly abilities = {
    tools: 'live',
    toolIntent: 'all',
    render: 'sections',
    steer: true,
    cancelTool: true,
  } as const;
  override readonly sections = PRISTINE;
}
