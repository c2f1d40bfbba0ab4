/** All settings: of this device, of this host, and the keys. */
import { useId } from 'react';
import { useHost } from '../host/context.js';
import { isAtrium } from '../host/extensions.js';
import { useStore } from '../model/store.js';
import { Switch } from '../panel/section.js';
import { Dialog } from '../ui/dialog.js';
import {
  chooseEditor,
  chooseTheme,
  EDITORS,
  editor,
  isForScreenReaders,
  THEMES,
  theme,
  toggleScreenReaders,
} from '../ui/preferences.js';
import { HostSettings } from './host-settings.js';
import { Keys } from './keys.js';
import { NotificationSettings } from './notifications.js';
import { Part, PartLinks } from './part.js';
import { PermissionRules } from './permission-rules.js';
import './settings.css';

export function SettingsDialog({ onClose }: { readonly onClose: () => void }) {
  const { client } = useHost();
  return (
    <Dialog title="Settings" className="settings" onClose={onClose}>
      {isAtrium(client) && <PartLinks titles={PARTS} />}
      <Device />
      <NotificationSettings />
      <Keys />
      <PermissionRules />
      <HostSettings />
    </Dialog>
  );
}

const PARTS = ['This device', 'Notifications', 'Keys', 'Permission rules', 'This host, for everybody'];

/** The settings of this browser; other devices have their own. */
function Device() {
  const chosenTheme = useStore(theme);
  const chosenEditor = useStore(editor);
  const isRead = useStore(isForScreenReaders);
  const id = useId();
  return (
    <Part title="This device">
      <fieldset className="theme-choice">
        <legend>Theme</legend>
        {THEMES.map(({ id: each, name, text }) => (
          <label key={each} data-theme={each} title={text}>
            <input
              type="radio"
              name={`${id}-theme`}
              checked={chosenTheme === each}
              onChange={() => chooseTheme(each)}
            />
            <span className="swatch" aria-hidden="true">
              Aa
            </span>
            <span>{name}</span>
          </label>
        ))}
      </fieldset>
      <div className="setting">
        <label htmlFor={`${id}-editor`}>Files open in</label>
        <select
          id={`${id}-editor`}
          value={chosenEditor}
          onChange={({ target }) => EDITORS.map(({ id: each }) => each === target.value && chooseEditor(each))}
        >
          {EDITORS.map(({ id: each, name }) => (
            <option key={each} value={each}>
              {name}
            </option>
          ))}
        </select>
        <p className="hint">An editor has to be on this device and see the same files as the host.</p>
      </div>
      <div className="setting">
        <span>Read terminals aloud</span>
        <Switch label="Read terminals aloud" isOn={isRead} onChange={toggleScreenReaders} />
        <p className="hint">For screen readers. It slows down long output.</p>
      </div>
    </Part>
  );
}
