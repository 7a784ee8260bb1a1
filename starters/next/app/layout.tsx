import type { ReactNode } from 'react';
import 'agent-bff-react/style.css';

export const metadata = { title: 'Agent' };

export default function Layout({ children }: Readonly<{ children: ReactNode }>) {
  return (
    <html lang="en">
      <body>{children}</body>
    </html>
  );
}
