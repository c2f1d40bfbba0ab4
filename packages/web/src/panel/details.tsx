/** The details of a session: what it may do, who takes part, what it has loaded, what it cost. */
import type { SessionState } from '@atrium/protocol';
import { Customizations } from './customizations.js';
import { People } from './people.js';
import { Providers } from './providers.js';
import { Settings } from './settings.js';
import { Tools } from './tools.js';
import { Usage } from './usage.js';

export function Details({ state }: { readonly state: SessionState }) {
  return (
    <div className="details">
      <Settings state={state} />
      <Usage state={state} />
      <Providers state={state} />
      <Customizations items={state.customizations} />
      <Tools state={state} />
      <People state={state} />
    </div>
  );
}
