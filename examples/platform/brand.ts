/** The style that the platform's administrator chose for all pages of this project. */
export const BRAND_CSS: string = `:root {
  --agent-accent: #4338ca;
  --agent-accent-text: #ffffff;
  --agent-tint: #eef2ff;
  --agent-radius: 14px;
}
@media (prefers-color-scheme: dark) {
  :root {
    --agent-accent: #a5b4fc;
    --agent-accent-text: #1e1b4b;
    --agent-tint: #1e1b4b;
  }
}
`;
