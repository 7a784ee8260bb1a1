import type { Metadata } from 'next';
import type { ReactNode } from 'react';
import 'agent-bff-react/style.css';
import './style.css';

export const metadata: Metadata = {
  title: 'agent-bff with Next',
  description: 'A website with a streaming agent chat.',
};

export default function Layout({ children }: Readonly<{ children: ReactNode }>) {
  return (
    <html lang="en">
      <body>{children}</body>
    </html>
  );
}
