/** Before the first connection: quiet for a moment, then with advice. */
import { Mark } from '../ui/mark.js';

export function Waiting({ isLost }: { readonly isLost: boolean }) {
  return (
    <main className="door" aria-busy="true">
      <div className="door-card">
        <Mark />
        <h1>{isLost ? 'The host does not answer' : 'Connecting'}</h1>
        {isLost && (
          <p role="status">
            Is it running? Start it with <code>npm start</code>. This page keeps trying by itself.
          </p>
        )}
      </div>
    </main>
  );
}
