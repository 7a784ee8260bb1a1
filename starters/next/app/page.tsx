import { A2AChat } from 'agent-bff-react';

export default function Page() {
  return (
    <main style={{ height: '90dvh' }}>
      <A2AChat panelTitle="Agent" suggestedPrompts={['What can you do?']} />
    </main>
  );
}
