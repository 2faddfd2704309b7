"""The words the demo world is made of. All of it is invented: the company (Halyard, a place to build and host small
services), its customers, its tickets."""

FIRST = """Amara Tobias Ingrid Kenji Lucía Marek Noor Oskar Priya Quentin Rosa Samir Tilda Umar Vera Wanda Ximena Yusuf Zofia
Anders Beatriz Cato Dalia Emeka Freja Goran Hana Ilse Jonas Kirsi Leon Maeve Nils Olena Pavel Rania Sten Thandi Ulla Viggo""".split()
LAST = """Okafor Lindqvist Brandt Watanabe Ferrer Nowak Haddad Berg Raman Dubois Marchetti Saleh Holm Farouk Petrova Kowal Rivas
Demir Zielinska Moe Couto Vermeer Mansour Eze Dahl Ilic Sato Kramer Weiss Laine Abadi Quinn Falk Bondar Horak Nasser Ek Dube
Strand Lund""".split()
COMPANIES = """Bramble & Co|Northpier|Saltmarsh Labs|Quill Street|Tern Analytics|Paper Lantern|Ostrava Robotics|Fjordline|Kumquat
Kitchen|Blue Ladder|Mosaic Freight|Pinecone Health|Halfmoon Games|Redshank|Copperleaf|Driftwood Travel|Ninebark|Sundial Books|Cedar
and Sons|Little Signal""".replace("\n", " ").split("|")
COUNTRIES = ["DE", "SE", "PL", "ES", "FR", "NL", "JP", "BR", "IN", "NG", "CA", "PT"]
PROJECT_A = """orchid harbor pepper lantern marble cobalt juniper saffron willow ember tundra meadow falcon otter heron birch
quartz maple comet anchor""".split()
PROJECT_B = "api web worker admin shop feed sync mail search reports".split()
REGIONS = ["fra", "iad", "sin", "gru"]

# category: (subject, body). {p} is the project, {r} its region, {n} a number, {m} a smaller number.
TICKETS = {
    "builds": [
        ("Build stuck in queue for {n} minutes", "Every build of {p} sits in the queue for about {n} minutes before it starts. It used to be seconds. Nothing changed on our side."),
        ("Cache is never restored", "Since last week {p} downloads all dependencies on each build; the log says `cache miss` although the lock file is the same. Builds went from {m} to {n} minutes."),
        ("Build fails with exit code 137", "Our image build for {p} is killed with 137 near the end. Memory graph stays under {n} %. Is there a new limit in {r}?"),
        ("Wrong Node version picked", "{p} has `node: 20` in halyard.toml but the builder uses 18. Deleting and re-adding the line helped once, then it came back."),
        ("How do I pass a secret to the build?", "We moved {p} to a private package registry and need one token at build time only. Where should it go so that it does not end up in the image?"),
    ],
    "deploys": [
        ("Rollback leaves old version running", "I rolled {p} back after release {n} and two of {m} instances still answer with the new version. Restarting them by hand works."),
        ("Health check times out after deploy", "Deploys of {p} end in `unhealthy after {n}s`. Locally the check answers in {m} ms. Logs show the app is up before the check even starts."),
        ("Preview deploys never removed", "There are {n} preview environments for {p}, some of branches deleted months ago. They count against our quota."),
        ("Deploy succeeded but nothing changed", "The dashboard says release {n} of {p} is live. The page still shows the old build hash, also in a private window."),
        ("Request: deploy windows", "We would like to forbid deploys of {p} on Fridays after {m} pm. Today we do it with a script of our own."),
    ],
    "networking": [
        ("Intermittent 502 from the edge", "About one in {n} requests to {p} ends in 502 with an empty body. Our own logs never see these requests. Region {r}."),
        ("TLS certificate expires in {m} days", "The certificate of the custom domain on {p} was not renewed. The dashboard shows `pending` since {n} hours."),
        ("Slow responses in the morning", "Between 8 and 9 the p95 of {p} rises from {m}0 ms to {n}0 ms. CPU is idle. It looks as if connections wait somewhere in front of us."),
        ("WebSocket drops every {m} minutes", "Clients of {p} lose their socket every {m} minutes on the dot. Is there an idle limit in {r} we can raise?"),
        ("Static outbound address?", "A partner of ours only accepts known addresses. Can {p} get a fixed outbound IP?"),
    ],
    "storage": [
        ("Disk full although files were deleted", "{p} reports 100 % disk. We removed {n} GB of exports and the number did not move for hours."),
        ("Backup of last night is missing", "The list of backups for {p} ends two days ago. The schedule is unchanged. Please say whether the data of the last two nights is safe."),
        ("Reads are slow since the upgrade", "Since the storage upgrade simple lookups in {p} take {n} ms instead of {m}. Writes are fine."),
        ("Restore to a new project", "How can I restore a backup of {p} from {n} days ago next to the running one, to compare?"),
        ("Volume cannot be attached", "Attaching the second volume to {p} fails with `volume busy`. It is attached to nothing."),
    ],
    "billing": [
        ("Charged twice in one month", "There are two invoices for {p} with the same period. Please refund one."),
        ("Invoice shows the wrong company", "The invoice for {p} still has our old name on it. We changed it in the settings {n} days ago."),
        ("Why did the price go up?", "{p} cost {n} EUR more than the month before with the same traffic. Which line is new?"),
        ("Change to yearly payment", "We would like to pay for {p} once a year. Is there a discount?"),
        ("Card declined, please retry", "Our bank blocked the charge for {p}; that is solved now. Please try again before the service is paused."),
    ],
    "account": [
        ("Cannot invite a colleague", "The invitation for {p} says `seat limit reached`, but we have {m} of {n} seats in use."),
        ("Two-factor code is refused", "I got a new phone and none of the {m} recovery codes work. I cannot reach anything any more."),
        ("Transfer ownership", "Our founder left. Please move {p} to the account of this address; the signed form is attached."),
        ("Audit log export", "For an audit we need the log of who changed {p} in the last {n} days. The export button gives an empty file."),
        ("Delete my account", "Please delete my account and everything in it. I did not find the button."),
    ],
}
# Texts of tickets filed while something was down, by component.
INCIDENT_TICKETS = {
    "builder": ("Builds fail at once", "All builds of {p} fail within {m} seconds with `no builder available`. Region {r}. We have a release today."),
    "router": ("Site unreachable", "{p} is down for all our users. Timeouts from {n} % of checks, region {r}. Status page says nothing yet."),
    "storage": ("Database read-only", "{p} refuses writes with `volume is read-only`. Orders are lost every minute. Region {r}."),
    "dashboard": ("Dashboard shows an empty list", "The dashboard lists no projects at all. {p} itself still answers, but we cannot deploy."),
}
INCIDENT_SUMMARIES = {
    "builder": "Builders ran out of disk after a base image grew",
    "router": "A routing table was rolled out half and dropped connections",
    "storage": "A storage node failed and its volumes went read-only",
    "dashboard": "The dashboard lost its session store",
}
CUSTOMER_COMMENTS = [
    "Any news on this?",
    "It happened again this morning, {n} times so far.",
    "Thanks, that helped a little, but it is not gone.",
    "I attached the log of the last run.",
    "We can give you access if that makes it easier.",
    "This blocks our release, please have a look soon.",
]
AGENT_COMMENTS = [
    "Thank you for the report. I can see it on our side and passed it on to the team.",
    "Could you tell me the time of the last failure, with time zone?",
    "We changed a setting for this project. Please try again and tell me what you see.",
    "A fix is rolling out today. I keep this ticket open until it has reached your region.",
    "I found the cause in our logs: the limit was lowered by mistake. It is back to what it was.",
    "That is not possible today. I added your vote to the request.",
]
# Three tickets with unusual but harmless text, all filed during incident 4.
UNUSUAL = [
    ("🚨 Everything red since 09:40 🚨",
     "Builds of {p} are all failing 😬\n\n\x1b[32m✔\x1b[0m install   41.2s\n\x1b[32m✔\x1b[0m typecheck  9.8s\n"
     "\x1b[31m✖ image     no builder available (fra-b2)\x1b[0m\n\x1b[33m⚠ retry 3 of 3\x1b[0m\n\nCan you 👀? 👩🏽\u200d💻 is waiting."),
    ("البناء متوقف منذ الصباح",
     "مرحبًا، كل عمليات البناء للمشروع {p} تفشل منذ الساعة التاسعة.\nالرسالة: `no builder available`\nهل من موعد متوقع للإصلاح؟ شكرًا"),
    ("ビルドが失敗します / build fails", "プロジェクト {p} のビルドがすべて失敗しています。\nError text (copied from the log): <b>no builder available</b> &amp; then nothing.\n— Ωmega team, naïve café ☕"),
]
