"""Rows to evaluate: what an invented assistant of the help desk replied to questions, beside what the handbook says and a good reply.
The handbook is invented, like everything of Halyard; some replies are right, some leave something out, some make things up."""
import json

NAME = "help-desk.jsonl"
# (question, what the handbook says, the reply, a good reply)
ROWS = [
    ("How do I pass a secret to the build?",
     "Build secrets are set with `halyard secret set NAME --build`. They are there while an image is built and never stored in it.",
     "Set it with `halyard secret set NAME --build`. It is there while the image is built and is never stored in it.",
     "Use `halyard secret set NAME --build`: it is there during the build and never stored in the image."),
    ("Can my project get a fixed outbound address?",
     "Projects of the business plan may have one fixed outbound address in each region. It is switched on under Network and works after the next deploy.",
     "Yes. Switch it on under Network.",
     "Yes, on the business plan: one for each region, switched on under Network, from the next deploy on."),
    ("How long are previews kept?",
     "A preview is removed 14 days after its last deploy, or when its branch is deleted.",
     "Previews are kept for 30 days and can be restored for a year after that.",
     "For 14 days after the last deploy, or until the branch is deleted."),
    ("Why does my WebSocket drop every ten minutes?",
     "The edge closes connections that were silent for ten minutes. A ping in between keeps them open. The limit is the same in all regions.",
     "The edge closes connections that were silent for ten minutes. Send a ping now and then, and it stays open.",
     "The edge closes connections after ten silent minutes; a ping keeps them open."),
    ("What does exit code 137 of a build mean?",
     "Exit code 137 means that the build used more memory than its plan has: 2 GB on hobby, 8 GB on team, 32 GB on business.",
     "That is a known problem of the builder. Just start the build again until it works.",
     "The build ran out of memory; how much it may use depends on the plan."),
    ("Which day are invoices written?",
     "Invoices are written on the first day of a month for the month before, and are due 14 days later.",
     "Invoices are written on the first day of a month for the month before. They are due 14 days later.",
     "On the first day of a month, for the month before; they are due after 14 days."),
    ("Can I forbid deploys on Fridays?",
     "Deploy windows are set in halyard.toml under `[deploy] windows`. Outside of them a deploy waits, and an owner may let it pass.",
     "Fridays are a fine day to deploy! Many teams do so. Is there anything else that I can help you with?",
     "Yes: set `[deploy] windows` in halyard.toml. Outside of them a deploy waits until an owner lets it pass."),
    ("Wie wechsle ich den Tarif?",
     "Owners change the plan under Billing. A larger plan counts at once, a smaller one from the next month on.",
     "Unter Billing, als Owner. Ein größerer Tarif gilt sofort, ein kleinerer ab dem nächsten Monat.",
     "Als Owner unter Billing: ein größerer Tarif gilt sofort, ein kleinerer ab dem nächsten Monat."),
]


def text():
    rows = (dict(zip(("query", "context", "response", "ground_truth"), row)) for row in ROWS)
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
