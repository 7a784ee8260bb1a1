import type { ReactNode } from 'react';

/** An icon of one shape. Icons that are shown later are declared where they are, so that the first paint does not load them. */
export function icon(shape: ReactNode) {
  return function Icon() {
    return (
      <svg
        aria-hidden="true"
        viewBox="0 0 24 24"
        width="1.25em"
        height="1.25em"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.75"
        strokeLinecap="round"
        strokeLinejoin="round"
      >
        {shape}
      </svg>
    );
  };
}

export const AgentIcon = icon(
  <path d="M12 3.5c.7 4.6 3.9 7.8 8.5 8.5-4.6.7-7.8 3.9-8.5 8.5-.7-4.6-3.9-7.8-8.5-8.5 4.6-.7 7.8-3.9 8.5-8.5Z" />,
);
export const FileIcon = icon(
  <path d="M13.5 3.5H7a1.5 1.5 0 0 0-1.5 1.5v14A1.5 1.5 0 0 0 7 20.5h10a1.5 1.5 0 0 0 1.5-1.5V8.5Zm0 0v5h5" />,
);
export const ClipIcon = icon(
  <path d="m19.5 11.5-7.6 7.6a4.6 4.6 0 0 1-6.5-6.5l7.9-7.9a3.1 3.1 0 0 1 4.4 4.4l-7.9 7.9a1.5 1.5 0 0 1-2.2-2.2l7.2-7.2" />,
);
export const SendIcon = icon(<path d="M12 19.5v-15m-6 6 6-6 6 6" />);
export const StopIcon = icon(<rect x="7" y="7" width="10" height="10" rx="1.5" fill="currentColor" />);
export const PlusIcon = icon(<path d="M12 5.5v13M5.5 12h13" />);
export const HistoryIcon = icon(
  <>
    <path d="M4 12a8 8 0 1 0 2.6-5.9L4 8.5" />
    <path d="M4 4v4.5h4.5M12 7.5V12l3 2" />
  </>,
);
export const CloseIcon = icon(<path d="m6.5 6.5 11 11m0-11-11 11" />);
export const ChatIcon = icon(
  <path d="M5 5h14a1.5 1.5 0 0 1 1.5 1.5v9A1.5 1.5 0 0 1 19 17h-6l-4.5 3.5V17H5a1.5 1.5 0 0 1-1.5-1.5v-9A1.5 1.5 0 0 1 5 5Z" />,
);
