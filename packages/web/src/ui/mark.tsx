/** The sign of the product. */

export function Mark() {
  return (
    <svg className="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="8" />
      <path d="M8 24V14a8 8 0 0 1 16 0v10M13 24v-8a3 3 0 0 1 6 0v8" />
    </svg>
  );
}
