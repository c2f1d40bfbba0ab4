/** The way to a folder, each step a button. */
import { pathOf } from '../model/format.js';
import { childUri } from './entries.js';

interface Props {
  readonly folder: string;
  readonly onGo: (uri: string) => void;
}

export function Crumbs({ folder, onGo }: Props) {
  const steps = stepsTo(folder);
  return (
    <nav className="crumbs" aria-label="Path">
      {steps.map(({ uri, name }, index) => (
        <button
          key={uri}
          type="button"
          className="quiet small"
          aria-current={index === steps.length - 1 ? 'location' : undefined}
          onClick={() => onGo(uri)}
        >
          {name}
        </button>
      ))}
    </nav>
  );
}

export function stepsTo(folder: string): readonly { readonly uri: string; readonly name: string }[] {
  const names = pathOf(folder).split(/[\\/]/).filter(Boolean);
  const steps = [{ uri: 'file:///', name: '/' }];
  let uri = 'file:///';
  for (const name of names) {
    // The letter of a drive keeps its colon.
    uri = /^[a-z]:$/i.test(name) ? `${uri}${name}` : childUri(uri, name);
    steps.push({ uri, name });
  }
  return steps;
}
