package Pond::Water;

# sub in_a_comment { }
sub new {
	my ($class, %args) = @_;
	return bless { %args }, $class;
}

sub _hidden { my $text = "sub in_a_string {"; return 1 }

sub Pond::deep { new('Pond') }

1;
